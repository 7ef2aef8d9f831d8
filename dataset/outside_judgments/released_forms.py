"""The forms in which releases export judgments: the long one, and the raw columns of ECCV Caption."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from core.errors import CounterpartError, some_of
from core.text import counted
from corpus.tables import read_rows
from hits.question import Level, Shortcoming, WrongWay

LONG = ("hit", "control", "worker", "image", "caption", "level")
"""Columns that each file of the long form has."""
_MORE = ("round", "assignment", "shortcoming", "wrong_way", "at", "active_seconds", "simulated", "counted", "seconds")
RAW = ("model", "ranking", "score", "cid", "iid", "annotation", "shortcoming", "shortcoming2")
_NAMES = {"cid": "caption", "iid": "image", "annotation": "level", "shortcoming2": "wrong_way"}
_IDS = {"image": ("image", "image_id"), "caption": ("caption", "caption_id")}
_ANSWER = ["level", "shortcoming", "wrong_way"]


def read_long(path: Path, *, round: str, default: str) -> pd.DataFrame:
    """Read the judgments of one round of a file of the long form, one row each, with ``LONG`` and further columns;
    ``active_seconds`` is NaN and ``seconds`` None where they are unknown.

    ``round`` is the round's name in the file; an empty one means the only one, or ``default`` of several. Raises
    CounterpartError for a file without that round, and for invalid values.
    """
    rows = _read(path, LONG, _MORE)
    names = rows["round"].unique().tolist()
    wanted = round or (names[0] if len(names) == 1 else default)
    if wanted not in names:
        raise CounterpartError(
            f"{path.name} has no round {wanted} but {len(names)} others: {some_of(names)}. Choose one with --from."
        )
    rows = rows[rows["round"] == wanted].copy()
    rows["hit"] = _whole(path, rows["hit"])
    rows["assignment"] = _whole(path, rows["assignment"].replace("", "1"))
    for column, usual in (("simulated", "0"), ("counted", "1")):
        rows[column] = _whole(path, rows[column].str.lower().replace({"": usual, "false": "0", "true": "1"}))
    rows["active_seconds"] = pd.to_numeric(rows["active_seconds"], errors="coerce")
    known = rows["seconds"] != ""
    rows["seconds"] = _whole(path, rows["seconds"].where(known, "0")).astype(object).where(known, None)
    at = pd.to_datetime(rows["at"], utc=True, errors="coerce", format="ISO8601")
    if at.isna().any():
        raise CounterpartError(_wrong(path, rows["at"], at.isna(), "use UTC times as in 2026-11-22T07:30:00Z"))
    rows["at"] = at
    return _checked_answers(path, rows)


def read_raw(path: Path) -> pd.DataFrame:
    """Read the judgments of a file with the raw columns: one row for each answer on a pair, with ``answer``, its number
    among those of the pair from 1, and ``worker``, one for each such number.

    The file names no workers and repeats a pair's answers for every proposal; they are taken from the first. Raises
    CounterpartError for pairs whose answers differ from one proposal to another, and for invalid values.
    """
    rows = _checked_answers(path, _read(path, RAW).rename(columns=_NAMES))
    proposal = ["model", "ranking", "score", "image", "caption"]
    rows["run"] = (rows[proposal] != rows[proposal].shift()).any(axis=1).cumsum()
    answers = dict(zip(rows.index, rows[_ANSWER].itertuples(index=False, name=None), strict=True))
    runs: dict[tuple[str, str], dict[int, list[int]]] = {}
    for line, image, caption, run in rows[["image", "caption", "run"]].itertuples(name=None):
        runs.setdefault((image, caption), {}).setdefault(run, []).append(line)
    lines: list[int] = []
    differing = []
    for (image, caption), of_pair in runs.items():
        least, *others = sorted(of_pair.values(), key=len)
        once = Counter(map(answers.__getitem__, least))
        # An annotator that proposed a pair in both directions at one rank has its answers twice in one run.
        if any(Counter(map(answers.__getitem__, one)) not in (once, once + once) for one in others):
            differing.append(f"image {image} with caption {caption}")
        lines += least
    if differing:
        raise CounterpartError(
            f"{path.name} has {counted(len(differing), 'pair')} whose answers differ from one proposal to another: "
            f"{some_of(differing)}. Every row of a pair must repeat its answers; export the file again."
        )
    kept = rows.loc[sorted(lines)].copy()
    kept["answer"] = kept.groupby(["image", "caption"]).cumcount() + 1
    kept["worker"] = f"raw-{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}-" + kept["answer"].astype(str)
    return kept.drop(columns=["run", "model", "ranking", "score"])


def _read(path: Path, columns: Sequence[str], more: Sequence[str] = ()) -> pd.DataFrame:
    """Return the cells of a table as texts, by line."""
    wanted = {name: _IDS.get(name, (name,)) for name in (*columns, *more)}
    found = list(read_rows(path, wanted, required=columns))
    cells = [["" if cell is None else str(cell) for cell in row.values()] for _, row in found]
    return pd.DataFrame(cells, index=[line for line, _ in found], columns=list(wanted), dtype=object)


def _checked_answers(path: Path, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with whole levels. Raises CounterpartError for unknown levels and reasons."""
    known: Mapping[str, Iterable[str]] = {
        "level": map(str, Level.values),
        "shortcoming": ("", *Shortcoming.values),
        "wrong_way": ("", *WrongWay.values),
    }
    for column, values in known.items():
        values = list(values)
        unknown = ~rows[column].isin(values)
        if unknown.any():
            words = ", ".join(value or "nothing" for value in values)
            raise CounterpartError(_wrong(path, rows[column], unknown, f"{column.replace('_', ' ')} is one of {words}"))
    return rows.assign(level=rows["level"].astype(int))


def _whole(path: Path, texts: pd.Series) -> pd.Series:
    numbers: Any = texts.str.fullmatch(r"\d{1,9}")
    if not numbers.all():
        raise CounterpartError(_wrong(path, texts, ~numbers, f"{texts.name} is a whole number"))
    return texts.astype(int)


def _wrong(path: Path, values: pd.Series, wrong: pd.Series, rule: str) -> str:
    first: Any = values[wrong].head(3).items()
    lines = [f"{value!r} in line {line}" for line, value in first]
    return f"{path.name} has {counted(int(wrong.sum()), 'invalid value')}: {some_of(lines)}; {rule}. Correct the file."
