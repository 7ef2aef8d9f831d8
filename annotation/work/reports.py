"""Reports: what workers say is wrong with what an item shows. A report changes no answer, no control and no pay; where
an answer is that the picture does not load, the report replaces a judgment."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from annotation.models import Assignment, Report
from annotation.people.workers import actor_of
from annotation.work.answers import own_places
from core.errors import CounterpartError
from core.events import record
from core.text import check_words, trimmed
from hits.models import Item
from hits.task_types import task_type_of

LONGEST_NOTE = 300


@dataclass(frozen=True)
class Complaint:
    """What a worker says of one item's pair: one of ``Report.Problem``, and perhaps a note."""

    item_id: int
    problem: str
    note: str = ""


def report_pair(assignment: Assignment, complaint: Complaint) -> bool:
    """Store a report of the pair of one of the assignment's items. False: its worker has reported the pair before, and
    the first report stays.

    Raises CounterpartError for an unknown problem, a note that is too long, or an item of another HIT; SeatLostError if
    the assignment was submitted or given back.
    """
    if complaint.problem not in Report.Problem.values:
        raise CounterpartError("Choose what is wrong with the pair. If the page shows no choices, reload it.")
    note = check_words(complaint.note, what="note", at_most=LONGEST_NOTE) if trimmed(complaint.note) else ""
    with transaction.atomic():
        own_places(assignment, [complaint.item_id])
        if not task_type_of(assignment.hit.round).has_picture:
            raise CounterpartError("This HIT shows no pictures, so there is nothing to report.")
        return _store(assignment, Item.shown.get(pk=complaint.item_id), problem=complaint.problem, note=note)


def report_missing_pictures(assignment: Assignment, items: Iterable[Item]) -> None:
    """Store a report for each item that was answered with NO_PICTURE; to be called where the answers are stored. It
    replaces the problem, not the note, that the worker reported before: the report replaces a judgment."""
    for item in items:
        _store(assignment, item, problem=Report.Problem.PICTURE, note="")
        Report.objects.filter(worker=assignment.worker_id, item=item).update(problem=Report.Problem.PICTURE)


def _store(assignment: Assignment, item: Item, *, problem: str, note: str) -> bool:
    fields = {"image_id": item.image_id, "caption_id": item.caption_id, "problem": problem, "note": note}
    report, is_new = Report.objects.get_or_create(
        worker_id=assignment.worker_id, item=item, defaults={"assignment": assignment, **fields}
    )
    if is_new:
        record("reported", report, actor=actor_of(assignment.worker), problem=report.problem)
    return is_new
