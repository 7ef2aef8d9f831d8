"""Label Studio's exports, as 1.x and label-studio-sdk 2.1 write them: JSON, JSON-MIN, CSV and TSV.

JSON is a list of tasks with ``data`` and ``annotations``, each with ``completed_by`` (an id, or an object with the
e-mail), ``was_cancelled``, ``created_at``, ``lead_time`` and ``result``, whose entries of the types choices, rating
and number are answers. The other forms are tables with a row for each annotation. Pre-annotations are no answers.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpus.input_files import at, json_records
from dataset.outside_judgments.outside_answer import (
    Opening,
    OutsideAnswer,
    Reader,
    list_of,
    record_of,
    seconds_of,
    time_of,
    worker_of,
)
from dataset.outside_judgments.table_layouts import ROWS, is_laid_out, read_table

_ANSWERS = ("choices", "rating", "number")


def recognises(opening: Opening) -> bool:
    return is_laid_out(opening, ROWS) or (opening.kind == "json" and opening.has("data", "annotations"))


def read_label_studio(path: Path, opening: Opening) -> Iterator[OutsideAnswer]:
    """Yield an answer for every annotation; a row without one is an answer without a level."""
    if is_laid_out(opening, ROWS):
        yield from read_table(path, opening, ROWS)
        return
    for number, record in enumerate(json_records(path), 1):
        with at(path, "task", number):
            task = record_of(record)
            answers = _of_task(task, f"task {task.get('id', number)}")
        yield from answers


def _of_task(task: Mapping[str, Any], place: str) -> list[OutsideAnswer]:
    data = record_of(task.get("data"))
    found = []
    for annotation in map(record_of, list_of(task.get("annotations"))):
        answers: dict[str, list[Any]] = {}
        results = [] if annotation.get("was_cancelled") else list_of(annotation.get("result"))
        for one in map(record_of, results):
            if one.get("type") in _ANSWERS:
                answers.setdefault(str(one.get("from_name")), []).append(one.get("value"))
        worker = _annotator(annotation.get("completed_by"))
        at = time_of(annotation.get("created_at"))
        seconds = seconds_of(annotation.get("lead_time"))
        found.append(OutsideAnswer(place, worker, data, answers, at, seconds))
    return found


def _annotator(given: Any) -> str:
    return worker_of(given.get("email") or given.get("id") if isinstance(given, dict) else given)


READER = Reader(
    recognises, read_label_studio, "its JSON, JSON-MIN, CSV or TSV; cancelled annotations and predictions do not count"
)
