"""Potato's annotations, as 1.2 and 2.0 to 2.12 write them; they name items by id alone.

1.2: ``annotated_instances`` as .jsonl, .csv or .tsv (columns ``schema:::label``), or a folder for each user with its
own. 2.x: a folder for each user with ``user_state.json``, or the exports of the formats jsonl, csv and tsv (columns
``schema.label``). The option is the name of a label; its value is a mark, or the key that chose it. What the labels of
scales, lists and numbers are called says nothing: there the value is the answer.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.errors import CounterpartError
from corpus.input_files import at, json_pairs, json_records
from corpus.tables import read_rows
from dataset.outside_judgments.outside_answer import (
    Opening,
    OutsideAnswer,
    Reader,
    list_of,
    name_of,
    opening_of,
    record_of,
    seconds_of,
    time_of,
    worker_of,
)

_STATE = "user_state.json"
_STATES = "instance_id_to_label_to_value"
_TABLES = [f"annotated_instances.{suffix}" for suffix in ("jsonl", "json", "csv", "tsv")]
_VALUED = re.compile(r"select-one|slider|number|scale_\d+")  # labels whose values are the answers
_REMARKS = {"free_response", "bad_text"}  # labels that are not answers to the question
_COLUMN = re.compile(r"(.+?)(?::::|\.)(.*)", re.DOTALL)
_PROGRAMS = ("tool", "llm")
_UNMARKED = (None, False, "", "false", "False")
NOTHING: Mapping[str, Any] = {}


def recognises(opening: Opening) -> bool:
    if opening.kind == "folder":
        return opening.has(_STATE) or not opening.names.isdisjoint(_TABLES)
    if opening.kind == "json":
        return opening.has(_STATES) or opening.has("label_annotations") or opening.has("instance_id", "labels")
    return opening.has("instance_id") and any(map(_COLUMN.fullmatch, opening.names))


def read_potato(path: Path, opening: Opening) -> Iterator[OutsideAnswer]:
    """Yield an answer for every user and item that the user labelled, with the item's ``instance_id``."""
    if opening.kind == "folder":
        yield from _of_folder(path)
    elif _STATES in opening.names:
        yield from _of_state(path)
    elif opening.kind == "json":
        yield from _of_records(path, "")
    else:
        for line, row in read_rows(path, {name: (name,) for name in opening.names}):
            with at(path, "line", line):
                answer = _answer(f"line {line}", row, _labels_of(row), row.get("user_id") or row.get("user"))
            yield answer


def _of_folder(folder: Path) -> Iterator[OutsideAnswer]:
    """Yield the answers of every user's state, or else of the table of all users, or else of the users' own tables."""
    if states := sorted(folder.rglob(_STATE)):
        for state in states:
            yield from _of_state(state)
    elif whole := [folder / name for name in _TABLES if (folder / name).is_file()]:
        if len(whole) > 1:
            raise CounterpartError(f"{folder.name} has {len(whole)} tables of all annotations. Import one of them.")
        yield from read_potato(whole[0], opening_of(whole[0]))
    else:
        for table in sorted(folder.rglob(_TABLES[0])):
            yield from _of_records(table, table.parent.name)


def _of_records(path: Path, folder: str) -> Iterator[OutsideAnswer]:
    for number, found in enumerate(json_records(path), 1):
        with at(path, "record", number):
            record = record_of(found)
            labels = record_of(record.get("label_annotations", record.get("labels")))
            behaviour = record_of(record.get("behavioral_data"))
            answer = _answer(f"record {number}", record, labels, record.get("user_id", folder), behaviour)
        yield answer


def _of_state(path: Path) -> Iterator[OutsideAnswer]:
    state = dict(json_pairs(path))
    with at(path, "user", 1):
        user = state.get("user_id", path.parent.name)
        behaviour = record_of(state.get("instance_id_to_behavioral_data"))
        items = record_of(state.get(_STATES))
    for number, (item, entries) in enumerate(items.items(), 1):
        with at(path, "item", number):
            labels = entries if isinstance(entries, dict) else _paired(entries)
            spent = record_of(behaviour.get(item))
            answer = _answer(f"item {item}", {"instance_id": item}, labels, user, spent)
        yield answer


def _paired(entries: Any) -> dict[str, dict[str, Any]]:
    labels: dict[str, dict[str, Any]] = {}
    for label, value in map(list_of, list_of(entries)):
        named = record_of(label)
        labels.setdefault(str(named.get("schema")), {})[str(named.get("name"))] = value
    return labels


def _labels_of(row: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    labels: dict[str, dict[str, Any]] = {}
    for column, cell in row.items():
        found = _COLUMN.fullmatch(column)
        if found and cell and not found[2].startswith("_"):
            labels.setdefault(found[1], {})[found[2]] = cell
    return labels


def _answer(
    place: str, record: Mapping[str, Any], labels: Mapping[str, Any], user: object, spent: Mapping[str, Any] = NOTHING
) -> OutsideAnswer:
    item = record.get("instance_id", record.get("id"))
    origin = record.get("annotator_origin")
    kind = origin.get("kind") if isinstance(origin, dict) else origin
    milliseconds = seconds_of(spent.get("total_time_ms"))
    return OutsideAnswer(
        place,
        worker_of(user),
        {},
        {schema: chosen for schema, options in labels.items() if (chosen := _chosen(options))},
        time_of(spent.get("session_end") or spent.get("session_start")),
        round(milliseconds / 1000) if milliseconds else None,
        simulated=kind in _PROGRAMS,
        item=name_of(item, "instance_id"),
    )


def _chosen(options: Any) -> list[Any]:
    """Return the answers to one question: the marked labels, or the values of labels that say nothing."""
    if not isinstance(options, dict):
        return [options]
    marked = {label: value for label, value in options.items() if label not in _REMARKS and value not in _UNMARKED}
    return [value if _VALUED.fullmatch(label) else label for label, value in marked.items()]


READER = Reader(
    recognises, read_potato, "annotated_instances, an export, or the folder (zipped) of annotations; with its data file"
)
