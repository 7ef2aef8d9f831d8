"""A version as the site exported it: ``eccv-json``, ``qrels``, ``mteb``, ``parquet``, ``hf`` or ``croissant``."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterpart_metrics.arrays import DIRECTIONS, SIDES, Qrels
from counterpart_metrics.binary import Metric
from counterpart_metrics.errors import CounterpartError, some_of
from counterpart_metrics.ids import Ids, OpenKeys
from counterpart_metrics.table_rows import table_rows
from counterpart_metrics.targets import Target
from counterpart_metrics.text_files import read_text

Judged = Mapping[str, Mapping[str, float]]
"""Query → item → gain: 1 a match, 0.5 a partial one of graded labels, 0 judged and no match."""

_NAME = re.compile(rf"(.+)_({'|'.join(SIDES.values())})((?:_(?:strict|lenient|graded))?\.(?:json|qrels))")
_TASK = re.compile(r"(.+)_(?:i2t|t2i)")
_QRELS = "qrels/test.parquet"
_PAIRS = "pairs.parquet"
QUERIES = {"i2t": "image_query", "t2i": "caption_query"}
"""Columns of a table of pairs: 1 where the image or the caption of a pair is a query."""


def is_scored_on(name: str) -> bool:
    """Whether a file of this name has the matches of one direction, for NumPy alone to score on."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class ExportedVersion:
    """The judgments of a version by direction; ids are texts."""

    name: str
    judged: Mapping[str, Judged]

    @classmethod
    def read(cls, path: str | Path) -> "ExportedVersion":
        """Read the one export of positives in a folder; or that of the file, with the file of the other direction.

        Raises CounterpartError for a place without such an export, a folder with several, files of another content,
        an export without a match, and Parquet where pyarrow is not installed.
        """
        path = Path(path)
        name, judged = _lists_at(path) or _tasks_at(path) or _tables_at(path) or ("", {})
        if not name:
            raise CounterpartError(
                f"{path} is not an export to score on: it has no <version>_image_to_caption.json or .qrels, no folder "
                "<version>_i2t of mteb, and no table of pairs. Export the version as eccv-json, qrels, mteb, parquet "
                "or hf."
            )
        if not any(gain > 0 for lists in judged.values() for items in lists.values() for gain in items.values()):
            raise CounterpartError(f"{path} holds no match, so that nothing can be scored on it. Export it again.")
        return cls(name, judged)

    def ids(self) -> Ids:
        """Return the ids of images and of captions that are known; an export does not contain the whole gallery."""
        sides: tuple[list[str], list[str]] = ([], [])
        for direction, lists in self.judged.items():
            asking, listed = sides if direction == "i2t" else sides[::-1]
            asking.extend(lists)
            for items in lists.values():
                listed.extend(items)
        return Ids(OpenKeys(sides[0]), OpenKeys(sides[1]))

    def target(self, metrics: Mapping[str, Metric]) -> Target:
        """Return the version as a target of scoring, of the ids in the export and of all that rankings name."""
        ids = self.ids()
        return Target.of(self.name, metrics, self.qrels(ids), lambda: ids)

    def qrels(self, ids: Ids) -> dict[str, Qrels]:
        """Return the judgments by direction, with the numbers of ``ids``."""
        found = {}
        for direction in filter(self.judged.__contains__, DIRECTIONS):
            lists = self.judged[direction]
            queries, items = (
                keys.find(np.array(texts, object))
                for keys, texts in zip(
                    ids.of(direction),
                    ([one for one, of in lists.items() for _ in of], [one for of in lists.values() for one in of]),
                    strict=True,
                )
            )
            found[direction] = Qrels.of_pairs(queries, items, [gain for of in lists.values() for gain in of.values()])
        return found


def _lists_at(path: Path) -> tuple[str, dict[str, Judged]] | None:
    """Read lists or qrels, a file for each direction."""
    folder = path if path.is_dir() else path.parent
    exports: dict[tuple[str, str], dict[str, Path]] = {}
    for file in sorted(folder.glob("*")):
        if found := _NAME.fullmatch(file.name):
            exports.setdefault((found[1], found[3]), {})[found[2]] = file
    if path != folder:
        exports = {key: files for key, files in exports.items() if path in files.values()}
    if not exports:
        return None
    _check_single(path, [next(iter(files.values())) for files in exports.values()])
    (((name, _), files),) = exports.items()
    return name, {direction: _read(files[side]) for direction, side in SIDES.items() if side in files}


def _tasks_at(path: Path) -> tuple[str, dict[str, Judged]] | None:
    """Read the qrels of MTEB's tasks, a folder for each direction."""
    task = _TASK.fullmatch(path.name)
    root = path.parent if task else path
    found = {file.parent.parent.name: file for file in sorted(root.glob(f"*/{_QRELS}"))}
    names = {one[1] for one in map(_TASK.fullmatch, found) if one and (not task or one[1] == task[1])}
    if not names:
        return None
    _check_single(path, [root / f"{name}_i2t" for name in sorted(names)])
    (name,) = names
    sides = {direction: f"{name}_{direction}" for direction in SIDES}
    return name, {direction: _of_task(root / side) for direction, side in sides.items() if side in found}


def _of_task(folder: Path) -> Judged:
    card = folder / "README.md"
    full = 2 if card.is_file() and "graded-labels" in card.read_text(encoding="utf-8") else 1
    asked, listed = ("image-", "caption-") if folder.name.endswith("_i2t") else ("caption-", "image-")
    judged: dict[str, dict[str, float]] = {}
    for row in _rows_of(folder / _QRELS, ("query-id", "corpus-id", "score")):
        lists = judged.setdefault(str(row["query-id"]).removeprefix(asked), {})
        lists[str(row["corpus-id"]).removeprefix(listed)] = row["score"] / full
    return judged


def _tables_at(path: Path) -> tuple[str, dict[str, Judged]] | None:
    """Read a table of pairs; it says which of their images and captions are queries."""
    files = [path] if path.is_file() else sorted([*path.glob(f"*_{_PAIRS}"), *path.glob(f"data/{_PAIRS}")])
    files = [file for file in files if file.name.endswith(_PAIRS)]
    if not files:
        return None
    _check_single(path, files)
    (file,) = files
    about = next(iter(sorted(file.parent.parent.glob("*_about"))), file.parent.parent)
    name = file.name.removesuffix(f"_{_PAIRS}") if file.name != _PAIRS else about.name.removesuffix("_about")
    judged: dict[str, dict[str, dict[str, float]]] = {direction: {} for direction in DIRECTIONS}
    for row in _rows_of(file, ("image_id", "caption_id", "graded", "sources", *QUERIES.values())):
        if row["sources"] != "automatic":  # rejected without a judgment
            pair = row["image_id"], row["caption_id"]
            for direction, (query, item) in zip(DIRECTIONS, (pair, pair[::-1]), strict=True):
                if row[QUERIES[direction]]:
                    judged[direction].setdefault(query, {})[item] = row["graded"] / 2
    return name, {direction: lists for direction, lists in judged.items() if lists}


def _rows_of(file: Path, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the rows of a Parquet file. Raises CounterpartError for one without the columns."""
    wanted = {name: (name,) for name in columns}
    return [row for _, row in table_rows(file, file.name, wanted, required=columns)]


def _check_single(path: Path, exports: list[Path]) -> None:
    if len(exports) > 1:
        names = some_of([export.name for export in exports])
        raise CounterpartError(f"{path} holds {len(exports)} exports. Name a file of one: {names}.")


def _read(file: Path) -> Judged:
    try:
        text = read_text(file)
        return _of_json(file, text) if file.suffix == ".json" else _of_qrels(file, text)
    except OSError as error:
        raise CounterpartError(f"Cannot read {file}: {error.strerror or error}.") from error


def _of_json(file: Path, text: str) -> Judged:
    try:
        lists = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CounterpartError(f"{file.name} is not valid JSON ({error}). Export it again.") from error
    if not isinstance(lists, dict) or not all(
        isinstance(items, list) and all(type(item) in (int, str) for item in items) for items in lists.values()
    ):
        raise CounterpartError(f"{file.name} is not an object of query: [items]. Export it as eccv-json again.")
    return {query: dict.fromkeys(map(str, items), 1.0) for query, items in lists.items()}


def _of_qrels(file: Path, text: str) -> Judged:
    full = 2 if file.stem.endswith("_graded") else 1
    judged: dict[str, dict[str, float]] = {}
    for query, item, label in _qrels_rows(file, text, full):
        judged.setdefault(query, {})[item] = label / full
    return judged


def _qrels_rows(file: Path, text: str, full: int) -> Iterator[tuple[str, str, int]]:
    known: set[tuple[str, str]] = set()
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if len(fields) != 4 or fields[3] not in map(str, range(full + 1)):
            raise CounterpartError(
                f"{file.name}, line {number}: not a line query 0 item label with a label from 0 to {full}. Export it "
                "again."
            )
        if (pair := (fields[0], fields[2])) in known:
            raise CounterpartError(f"{file.name}, line {number}: {fields[0]} and {fields[2]} have a label twice.")
        known.add(pair)
        yield *pair, int(fields[3])
