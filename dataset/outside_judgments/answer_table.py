"""Answers of other tools as rows of judgments: the pair, the level, and the worker under a pseudonym."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from annotation.models import WorkerIdentity
from core import clock
from core.errors import CounterpartError, some_of
from core.progress import Progress, tracked
from core.text import counted
from core.untrusted import read_json
from core.web.signatures import signatures
from corpus.input_files import at, csv_rows, json_records
from dataset.outside_judgments import READERS
from dataset.outside_judgments.collection_keys import caption_keys, image_keys
from dataset.outside_judgments.judgment_parameters import CAPTION_FIELDS, IMAGE_FIELDS, JudgmentParameters
from dataset.outside_judgments.outside_answer import Opening, OutsideAnswer, name_of, opening_of, record_of
from hits.models import Round

CHANNEL = "import"
_LENGTH = 24  # hexadecimal digits of a pseudonym
_BATCH = 500
QUESTIONS = ("level", "answer", "judgment", "match", "choice", "rating", "label")
"""Names of the question, for files with several questions or with questions and data in the same columns."""
ITEM_IDS = ("id", "instance_id", "item_id")
_VALUES = ("choices", "rating", "number")  # of Label Studio
_DEEPEST = 4  # lists and objects around an answer
_HELP = (
    "--image and --caption name the fields of the pair, --answer the question, --levels what answers mean, such as "
    "Yes=1,Unsure=skip."
)

Answers = Callable[[], Iterator[OutsideAnswer]]
Fields = tuple[Sequence[str], Sequence[str]]


def read_outside(
    round: Round, path: Path, wanted: JudgmentParameters, format_name: str, opening: Opening, progress: Progress
) -> tuple[pd.DataFrame, int]:
    """Return a row for each judgment of another tool's file, and the number of answers that were skipped.

    The rows have the collection's keys in ``image`` and ``caption``, a pseudonym in ``worker``, and the columns of
    ``released_forms.read_long`` but for the HIT's. Raises CounterpartError for images and captions that are not the
    collection's, tasks without them, several questions, and answers that are not a level.
    """
    name = path.name
    if format_name == "potato" and not wanted.items:
        raise CounterpartError(f"{name} names items by id alone. Add the project's data file with --items.")
    if wanted.items and format_name != "potato":
        raise CounterpartError(f"--items is for Potato, and {name} is a file of {format_name}. Leave it out.")
    rows, skipped = _judged(name, lambda: READERS[format_name].read(path, opening), wanted, progress)
    collection = round.pool.collection
    rows["image"] = rows["image"].map(image_keys(collection, rows["image"].unique().tolist()))
    rows["caption"] = rows["caption"].map(caption_keys(collection, rows["caption"].unique().tolist()))
    rows["worker"] = rows["worker"].map(pseudonyms_of(rows["worker"].unique().tolist(), tool=format_name, round=round))
    rows["at"] = pd.to_datetime(rows["at"].where(rows["at"].notna(), clock.now()), utc=True)
    return rows.assign(assignment=1, shortcoming="", wrong_way="", counted=1, active_seconds=np.nan), skipped


def _judged(name: str, answers: Answers, wanted: JudgmentParameters, progress: Progress) -> tuple[pd.DataFrame, int]:
    """Return the judgments as the file names their pairs and workers."""
    fields = ([wanted.image] if wanted.image else IMAGE_FIELDS, [wanted.caption] if wanted.caption else CAPTION_FIELDS)
    question = _question(name, answers, wanted.answer, fields)
    items = _items(wanted.items, fields) if wanted.items else None
    words = wanted.level_words()
    rows: list[tuple[Any, ...]] = []
    faults: dict[str, list[str]] = defaultdict(list)
    skipped = 0
    for one in tracked(answers(), "reading", progress):
        try:
            level = _level(one.answers.get(question), words)
            if level is None:
                skipped += 1
                continue
            task = one.task if items is None else items.get(one.task["instance_id"])
            if task is None:
                raise ValueError("its item is not in the data file")
            pair = [_field(task, names) for names in fields]
        except ValueError as error:
            faults[str(error)].append(one.place)
        else:
            rows.append((one.worker, *pair, level, one.at, one.seconds, int(one.simulated)))
    if faults:
        wrong = counted(sum(map(len, faults.values())), "answer")
        problems = [f"{fault} ({some_of(places, at_most=3)})" for fault, places in faults.items()]
        raise CounterpartError(f"{name} has {wrong} that cannot be used: {some_of(problems)}. {_HELP}")
    if not rows:
        raise CounterpartError(f"{name} has no judgments; {counted(skipped, 'answer')} skipped or not submitted.")
    columns = ["worker", "image", "caption", "level", "at", "seconds", "simulated"]
    return pd.DataFrame(dict(zip(columns, map(_column, zip(*rows, strict=True)), strict=True))), skipped


def _column(values: tuple[Any, ...]) -> pd.Series:
    """Keep None apart from numbers and times."""
    return pd.Series(values, dtype=object if None in values else None)


def _question(name: str, answers: Answers, wanted: str, fields: Fields) -> str:
    """Return the question whose answers are the levels: the wanted one, the only one, or that with a usual name."""
    asked = {question for one in answers() for question in one.answers}
    asked -= {field for side in fields for field in side}
    usual = asked.intersection(QUESTIONS)
    chosen = asked & {wanted} if wanted else usual if len(usual) == 1 else asked
    if len(chosen) == 1:
        return chosen.pop()
    if not asked:
        raise CounterpartError(f"{name} has no answers: all were skipped or not submitted.")
    has = f"no question {wanted} but" if wanted else "several questions:"
    raise CounterpartError(f"{name} has {has} {some_of(sorted(asked))}. Name the one of the levels with --answer.")


def _level(answer: object, words: Mapping[str, int | None]) -> int | None:
    """Return the level of an answer; None if it is skipped. Raises ValueError unless it is one level."""
    given = _plain(answer)
    if not given:
        return None
    if len(given) > 1:
        raise ValueError("several answers to one question")
    word = " ".join(given[0].split())
    if word.casefold() not in words:
        raise ValueError(f"{word[:60]!r} is not a level")
    return words[word.casefold()]


def _plain(answer: object, depth: int = 0) -> list[str]:
    """Return the texts and numbers in an answer, which tools wrap in lists, objects and, in tables, JSON."""
    if isinstance(answer, str) and answer[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):  # it is a text after all
            answer = read_json(answer)
    if depth > _DEEPEST:
        raise ValueError("an answer in too many lists")
    if isinstance(answer, list):
        return [text for one in answer for text in _plain(one, depth + 1)]
    if isinstance(answer, dict):
        return [text for name in _VALUES if name in answer for text in _plain(answer[name], depth + 1)]
    if isinstance(answer, float) and answer.is_integer():
        answer = int(answer)
    return [] if answer in (None, "") else [str(answer)]


def _field(task: Mapping[str, Any], names: Sequence[str]) -> str:
    given = next((task[name] for name in names if task.get(name) not in (None, "")), None)
    if given is None:
        raise ValueError(f"its task has no {' or '.join(names)} but {some_of(sorted(task), at_most=10)}")
    return name_of(given, names[0])


def _items(path: Path, fields: Fields) -> dict[str, dict[str, Any]]:
    """Read a Potato project's data file: id → the fields of the pair."""
    opening = opening_of(path)
    rows: Iterator[tuple[int, Any]] = (
        enumerate(json_records(path), 1) if opening.kind == "json" else csv_rows(path, delimiter=opening.delimiter)
    )
    items: dict[str, dict[str, Any]] = {}
    for number, found in rows:
        with at(path, "item", number):
            row = record_of(found)
            item = _field(row, ITEM_IDS)
            if item in items:
                raise ValueError(f"the id {item} is that of an item before")
        items[item] = {name: row[name] for side in fields for name in side if name in row}
    return items


def pseudonyms_of(names: Iterable[str], *, tool: str, round: Round) -> dict[str, str]:
    """Return name → pseudonym: a keyed digest, the same in each import into the round, also after a change of the
    site's key, and another in each round and for each tool. Names and addresses themselves are not stored."""
    made = {
        name: [f"{tool}-{digest}" for digest in signatures("dataset.outside_workers", text, length=_LENGTH)]
        for name, text in ((name, f"{round.name}/{tool}/{name}") for name in names)
    }
    wanted = [pseudonym for pseudonyms in made.values() for pseudonym in pseudonyms]
    known = set[str]()
    for start in range(0, len(wanted), _BATCH):
        some = WorkerIdentity.objects.filter(channel=CHANNEL, external_id__in=wanted[start : start + _BATCH])
        known.update(some.values_list("external_id", flat=True))
    return {name: next((one for one in given if one in known), given[0]) for name, given in made.items()}
