"""Label Studio's exports, as 1.x and label-studio-sdk 2.1 write them: JSON, JSON-MIN, CSV and TSV.

JSON is a list of tasks with ``data`` and ``annotations``, each with ``completed_by`` (an id, or an object with the
e-mail), ``was_cancelled``, ``created_at``, ``lead_time`` and ``result``, whose entries of the types choices, rating
and number are answers. The other forms have a row for each annotation, with the task's data, the answers and
``annotator``, ``annotation_id``, ``created_at`` and ``lead_time`` side by side. Pre-annotations are no answers.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpus.input_files import at, csv_rows, json_records
from dataset.outside_judgments.outside_answer import (
    Opening,
    OutsideAnswer,
    Reader,
    list_of,
    name_of,
    record_of,
    seconds_of,
    time_of,
)

_ANSWERS = ("choices", "rating", "number")
_ROW = ("annotator", "annotation_id", "lead_time")
_NO_ANSWERS = {*_ROW, "id", "created_at", "updated_at", "agreement", "history"}


def recognises(opening: Opening) -> bool:
    return opening.has(*_ROW) or (opening.kind == "json" and opening.has("data", "annotations"))


def read_label_studio(path: Path, opening: Opening) -> Iterator[OutsideAnswer]:
    """Yield an answer for every annotation. Tasks and rows without one are left out."""
    if opening.kind in ("csv", "tsv"):
        for line, cells in csv_rows(path, delimiter=opening.delimiter):
            with at(path, "line", line):
                answers = _of_row(cells, f"line {line}")
            yield from answers
        return
    for number, record in enumerate(json_records(path), 1):
        with at(path, "task", number):
            task = record_of(record)
            place = f"task {task.get('id', number)}"
            answers = _of_task(task, place) if "annotations" in task else _of_row(task, place)
        yield from answers


def _of_task(task: Mapping[str, Any], place: str) -> list[OutsideAnswer]:
    data = record_of(task.get("data"))
    found = []
    for annotation in map(record_of, list_of(task["annotations"])):
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


def _of_row(row: Mapping[str, Any], place: str) -> list[OutsideAnswer]:
    if not row.get("annotation_id"):
        return []  # a task without an annotation
    answers = {name: value for name, value in row.items() if name not in _NO_ANSWERS}
    at = time_of(row.get("created_at"))
    seconds = seconds_of(row.get("lead_time"))
    return [OutsideAnswer(place, _annotator(row.get("annotator")), row, answers, at, seconds)]


def _annotator(given: Any) -> str:
    return name_of(given.get("email") or given.get("id") if isinstance(given, dict) else given)


READER = Reader(recognises, read_label_studio)
