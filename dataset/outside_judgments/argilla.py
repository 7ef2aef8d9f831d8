"""Argilla's records, as 2.0 to 2.8 write them, in JSON or JSON lines.

``records.to_json`` nests: ``fields``, ``metadata`` and ``responses``, by question a list of ``value`` and ``user_id``.
It does not say which responses were submitted: those of records whose ``status`` is not completed are taken as not
submitted. ``records.to_list(flatten=True)`` and ``records.to_datasets()`` put fields and metadata side by side with
``<question>.responses``, ``.responses.users`` and ``.responses.status``. The server's API has ``items``, whose
``responses`` are one for each user with ``values`` and ``status``. Suggestions are no answers.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from corpus.input_files import at, json_items, json_records
from dataset.outside_judgments.outside_answer import (
    Opening,
    OutsideAnswer,
    Reader,
    list_of,
    record_of,
    time_of,
    worker_of,
)

_FLAT = ".responses"


def recognises(opening: Opening) -> bool:
    if opening.kind != "json":
        return False
    return opening.has("fields", "responses") or opening.has("items") or any(map(_is_flat, opening.names))


def read_argilla(path: Path, opening: Opening) -> Iterator[OutsideAnswer]:
    """Yield the answers of each user on each record; a draft or a discarded response is one without answers."""
    records = json_items(path, "items.item") if opening.has("items") else json_records(path)
    for number, found in enumerate(records, 1):
        with at(path, "record", number):
            record = record_of(found)
            place = f"record {record.get('external_id') or record.get('id') or number}"
            task = {**record_of(record.get("metadata")), **record_of(record.get("fields", record))}
            responses = record.get("responses")
            if isinstance(responses, list):
                answers = [_of_user(place, task, record_of(one)) for one in responses]
            else:
                answers = _by_user(place, task, _nested(record) if responses is not None else _flattened(record))
        yield from answers


def _of_user(place: str, task: Mapping[str, Any], response: Mapping[str, Any]) -> OutsideAnswer:
    given = record_of(response.get("values")) if response.get("status") == "submitted" else {}
    answers = {question: record_of(one).get("value") for question, one in given.items()}
    at = time_of(response.get("updated_at") or response.get("inserted_at"))
    return OutsideAnswer(place, worker_of(response.get("user_id")), task, answers, at)


def _by_user(
    place: str, task: Mapping[str, Any], responses: Iterator[tuple[str, Any, Any, Any]]
) -> list[OutsideAnswer]:
    answers: dict[tuple[str, int], dict[str, Any]] = {}
    for number, (question, value, user, status) in enumerate(responses):
        worker = worker_of(user if user != "None" else None)
        of_user = answers.setdefault((worker, 0 if worker else number), {})
        if status == "submitted":
            of_user[question] = value
    return [OutsideAnswer(place, user, task, given) for (user, _), given in answers.items()]


def _nested(record: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    usual = "submitted" if record.get("status", "completed") == "completed" else "draft"
    for question, responses in record_of(record["responses"]).items():
        for one in map(record_of, list_of(responses)):
            yield question, one.get("value"), one.get("user_id"), one.get("status", usual)


def _flattened(record: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    for name in filter(_is_flat, record):
        columns = (record[name], record.get(f"{name}.users"), record.get(f"{name}.status"))
        values, users, statuses = map(list_of, columns)
        if not len(values) == len(users) == len(statuses):
            raise ValueError(f"{name} has {len(values)} values, {len(users)} users and {len(statuses)} statuses")
        yield from ((name.removesuffix(_FLAT), *one) for one in zip(values, users, statuses, strict=True))


def _is_flat(name: str) -> bool:
    return name.endswith(_FLAT)


READER = Reader(recognises, read_argilla, "records as JSON or JSON lines; only submitted responses count")
