"""Take in what a platform has confirmed: every submission becomes one assignment with its judgments, whatever
happened on the way, so that nobody works unpaid and nothing answered is lost."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.answers import Answer, check_answer_set, decode_answers
from annotation.budget import CeilingError
from annotation.grading import count_failures, flag
from annotation.leases import claim
from annotation.models import Assignment, Decision, Judgment
from annotation.payments import mark_reward_paid, owe
from annotation.submissions import receipt_of, store_answers
from annotation.workers import actor_of, give_consent, locked
from core.errors import CounterpartError
from core.events import record
from core.progress import Progress, silent
from crowd import channels
from crowd.models import PlatformAssignment
from crowd.turns import kept_answers
from hits.models import Item, Round, Seat

logger = logging.getLogger(__name__)

Status = PlatformAssignment.Status

FIELD, RECEIPT = "answers", "receipt"
REPEATED = "The worker had answered this HIT before: paid, and counted once."
LOST = "Confirmed by the platform, but no whole answer set came with it or was saved here. The work is to be paid."
FOREIGN = "The platform's copy carries another receipt than ours. Judged by the copy that was saved here."


@dataclass(frozen=True)
class Brought:
    """What a submission brought: its answers, all or none, and what a person should look at, if anything."""

    answers: Sequence[Answer]
    doubt: str = ""


def take_in_waiting(round: Round | None = None, *, progress: Progress = silent) -> int:
    """Take in every submission (to one round) that is confirmed and not taken in. Returns how many.

    One that fails is logged and keeps waiting; the others are taken in all the same.
    """
    waiting = PlatformAssignment.objects.exclude(status="").filter(assignment=None, problem="")
    if round is not None:
        waiting = waiting.filter(posting__hit__round=round)
    keys, taken = list(waiting.order_by("submitted_at", "pk").values_list("pk", flat=True)), 0
    for done, key in enumerate(keys):
        progress("taking in what was submitted", done, len(keys))
        taken += _take_in_safely(key)
    return taken


def _take_in_safely(key: int) -> bool:
    try:
        return take_in(key) is not None
    except Exception:
        logger.exception("platform assignment %s could not be taken in", key)
        return False


@transaction.atomic
def take_in(key: int) -> Assignment | None:
    """Make the assignment of a confirmed submission. None: it is not confirmed, taken in already, or has a problem."""
    rows = PlatformAssignment.objects.select_for_update(of=("self",)).select_related("posting__hit__round", "worker")
    row = rows.get(pk=key)
    if row.assignment_id or row.problem or row.status == Status.CLAIMED:
        return None
    worker = locked(row.worker_id)
    give_consent(worker)
    theirs = worker.assignments.filter(hit=row.posting.hit).exclude(state__in=Assignment.ABANDONED)
    assignment = _pay_repeated(row) if theirs.exists() else _submit(row)
    PlatformAssignment.objects.filter(pk=row.pk).update(assignment=assignment, problem=row.problem)
    if row.status == Status.APPROVED:
        mark_reward_paid(assignment)
    return assignment


def brought_by(row: PlatformAssignment, items: Mapping[int, Item]) -> Brought:
    """Return the answers of a confirmed submission: what was saved with us, or else the platform's copy.

    Either copy makes up for the other. Where both are there, their receipts must agree.
    """
    fields = channels.platform(row.channel).answer_fields(row.content)
    if row.saved_at and (answers := _whole([*kept_answers(row).values()], items, row)):
        agrees = fields.get(RECEIPT, row.receipt) == row.receipt
        return Brought(answers, doubt="" if agrees else FOREIGN)
    if answers := _whole(_copied(fields, items), items, row):
        return Brought(answers)
    return Brought([], doubt=LOST)


def _submit(row: PlatformAssignment) -> Assignment:
    hit = row.posting.hit
    items = {item.pk: item for item in hit.items.all()}
    brought = brought_by(row, items)
    assignment = _assignment(row, _seat_of(row), Assignment.State.LEASED)
    record("leased", assignment, actor=actor_of(row.worker))
    store_answers(assignment, _first_answers(row, brought.answers, items), items, row.active_seconds)
    Assignment.objects.filter(pk=assignment.pk).update(submitted_at=row.submitted_at)
    if brought.doubt:
        row.problem = brought.doubt
        flag(assignment, control_failures=count_failures(assignment))
    return assignment


def _pay_repeated(row: PlatformAssignment) -> Assignment:
    """A platform let somebody answer a HIT twice: the second set is kept as it came and paid, but not counted."""
    seat = Seat.objects.filter(hit=row.posting.hit).order_by("number")[0]
    assignment = _assignment(row, seat, Assignment.State.EXCLUDED)
    assignment.submitted_at, assignment.receipt = row.submitted_at, receipt_of(assignment)
    assignment.active_seconds = row.active_seconds
    assignment.save(update_fields=["submitted_at", "receipt", "active_seconds"])
    record("excluded", assignment, actor="intake", reason=REPEATED)
    Decision.objects.create(assignment=assignment, votes_count=False, paid=True, reason=REPEATED)
    row.problem = REPEATED
    try:
        owe(assignment)
    except CeilingError as error:
        row.problem = f"{REPEATED} {error}"
    return assignment


def _assignment(row: PlatformAssignment, seat: Seat, state: str) -> Assignment:
    started = row.opened_at or row.submitted_at or timezone.now()
    return Assignment.objects.create(
        seat=seat,
        hit=row.posting.hit,
        worker=row.worker,
        state=state,
        leased_at=started,
        deadline=row.submitted_at or started,
    )


def _seat_of(row: PlatformAssignment) -> Seat:
    """Take an open seat of the HIT; where a late submission finds none, make one more."""
    seats = Seat.objects.select_for_update().filter(hit=row.posting.hit)
    for seat in seats.filter(state=Seat.State.OPEN).order_by("number"):
        if claim(seat.pk):
            return seat
    last = seats.aggregate(last=Max("number"))["last"] or 0
    seat = Seat.objects.create(hit=row.posting.hit, number=last + 1, state=Seat.State.TAKEN)
    record("added", seat, actor="intake", reason="a late submission")
    return seat


def _first_answers(row: PlatformAssignment, answers: Sequence[Answer], items: Mapping[int, Item]) -> Sequence[Answer]:
    """Leave out pairs that the worker has judged in another HIT: one answer a worker and pair, the first. What is left
    out stays in the row."""
    judged = set(Judgment.objects.filter(worker=row.worker).values_list("image_id", "caption_id"))
    pairs = {pk: (item.image_id, item.caption_id) for pk, item in items.items()}
    return [answer for answer in answers if pairs[answer.item_id] not in judged]


def _copied(fields: Mapping[str, str], items: Mapping[int, Item]) -> list[Answer]:
    places = {item.place: pk for pk, item in items.items()}
    try:
        return decode_answers(fields.get(FIELD, ""), places)
    except CounterpartError:
        return []


def _whole(answers: list[Answer], items: Mapping[int, Item], row: PlatformAssignment) -> list[Answer]:
    """The answers, if they are exactly one good one for each item; none otherwise."""
    try:
        check_answer_set(answers, items, reasons=row.posting.hit.round.reasons)
    except CounterpartError:
        return []
    return answers
