"""Submissions: a whole answer set becomes judgments and a receipt, once, whichever channel it came by."""

from collections.abc import Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from annotation.models import Assignment, Judgment
from annotation.money.budget import has_room_for_seat
from annotation.people.admission import permit_of
from annotation.people.workers import actor_of, locked
from annotation.work.answers import (
    NO_PICTURE,
    Answer,
    SeatLostError,
    check_answer_set,
    delete_drafts,
    places_among,
    put_drafts,
)
from annotation.work.evidence import ItemAnswer
from annotation.work.grading import grade, item_answers_of
from annotation.work.judgments import answers_by
from annotation.work.leases import claim, move
from annotation.work.reports import report_missing_pictures
from annotation.work.retirement import review_controls_of
from core import clock
from core.database.fixed_queries import FixedQuery
from core.errors import CounterpartError, some_of
from core.events import record
from core.text import counted
from hits.models import Control, Item
from hits.task_types import task_type_of

SUSPECTED = Control.State.SUSPECTED


def items_of(assignment: Assignment) -> dict[int, Item]:
    """Return the items of the assignment's HIT by their keys, with their controls."""
    return {item.pk: item for item in _items(assignment.hit_id)}


@FixedQuery
def _items(hit: int) -> QuerySet[Item]:
    return Item.shown.filter(hit=hit).order_by().select_related("control")


def submit_answers(
    assignment: Assignment,
    *,
    answers: Sequence[Answer],
    active_seconds: int,
    items: Mapping[int, Item] | None = None,
) -> str:
    """Store the answers to every item of the assignment's HIT and grade them once that is committed. Those of a
    platform's visitor are kept as drafts until the platform confirms the submission. ``items`` are those of
    ``items_of``, where they have been read.

    A second submission returns the first one's receipt and changes nothing, whatever it holds.
    Raises SeatLostError where the worker does not have the seat any more, CounterpartError where the answers are not
    exactly one good answer for each item; nothing is changed then.
    """
    items = items or items_of(assignment)
    round = assignment.hit.round
    try:
        check_answer_set(answers, places_among(assignment, items), task=task_type_of(round), reasons=round.reasons)
    except CounterpartError:
        if receipt := _earlier_receipt(assignment):
            return receipt
        raise
    if assignment.is_claim:
        return _keep_claim(assignment, answers, active_seconds)
    try:
        code = store_answers(assignment, answers, items, active_seconds)
    except IntegrityError as error:
        raise _clash(assignment, items) from error
    if receipt := code or _earlier_receipt(assignment):
        return receipt
    raise _seat_lost()


def mark_submitted(assignment: Assignment, *, active_seconds: int | None, at: datetime | None = None) -> str | None:
    """Mark a lease as submitted and return its receipt. None: it was returned, submitted or lost before.

    A lease that ran out may still be submitted while no other worker has the seat: no answer is lost for being late. So
    may work that a person was asked about before it was answered. The receipt is a signature of the assignment, so it
    can be checked without this row. ``active_seconds`` is None where they were not counted; ``at`` is the platform's
    time of the submission.
    """
    fields: dict[str, Any] = {
        "submitted_at": at or clock.now(),
        "active_seconds": active_seconds,
        "receipt": assignment.receipt_code,
    }
    state = Assignment.State
    submit = partial(move, assignment, to=state.SUBMITTED, actor=actor_of(assignment.worker), **fields)
    flagged = Assignment.objects.filter(pk=assignment.pk, receipt="", state=state.FLAGGED).exclude(seat=None)
    with transaction.atomic(savepoint=False):
        is_submitted = (
            submit(come_from=state.LEASED)
            or (_regain(assignment) and submit(come_from=state.EXPIRED))
            or (flagged.update(receipt=assignment.receipt_code) and submit(come_from=state.FLAGGED, problem=""))
        )
    return assignment.receipt if is_submitted else None


@transaction.atomic
def store_answers(
    assignment: Assignment,
    answers: Sequence[Answer],
    items: Mapping[int, Item],
    active_seconds: int | None,
    *,
    at: datetime | None = None,
) -> str | None:
    """Submit, add a judgment for each answer to ``items`` (by key, with their controls), or a report where the picture
    did not load, and grade once that is committed. An answer to a pair that was asked about again is kept in
    ``repeats``.

    Returns the receipt; None if the assignment could not be submitted any more. Drafts of items that are not answered
    stay.
    """
    unsubmitted = copy(assignment)  # which has the drafts of the worker's other turns at the HIT
    code = mark_submitted(assignment, active_seconds=active_seconds, at=at)
    if code is None:
        return None
    delete_drafts(unsubmitted, {answer.item_id for answer in answers})
    again = [one for one in answers if items[one.item_id].repeat_of_id is not None]
    answers = [one for one in answers if items[one.item_id].repeat_of_id is None]
    if again:
        assignment.repeats = [[one.item_id, items[one.item_id].repeat_of_id, one.level] for one in again]
        assignment.save(update_fields=["repeats"])
    Judgment.objects.bulk_create(
        Judgment(
            assignment=assignment,
            worker_id=assignment.worker_id,
            image_id=items[answer.item_id].image_id,
            caption_id=items[answer.item_id].caption_id,
            **answer.columns,
        )
        for answer in answers
        if answer.level != NO_PICTURE
    )
    if missing := [items[one.item_id] for one in answers if one.level == NO_PICTURE]:
        report_missing_pictures(assignment, missing)
    # Robust: a failure here is logged, and the reconciler grades later; the answers are in.
    item_answers = item_answers_of(answers, items) if len(answers) + len(again) == len(items) else None
    doubted = any(item.control and item.control.state == SUSPECTED for item in items.values())
    transaction.on_commit(lambda: _grade_committed(assignment, item_answers, doubted=doubted), robust=True)
    return code


def _earlier_receipt(assignment: Assignment) -> str:
    """Return the receipt of an assignment that was submitted, and set it; "" if it was not. Raises SeatLostError if it
    was returned."""
    state, code = Assignment.objects.values_list("state", "receipt").get(pk=assignment.pk)
    if code:
        assignment.receipt = code
    elif state not in Assignment.ANSWERABLE and not assignment.may_be_answered_yet:
        raise _seat_lost()
    return code


def _keep_claim(assignment: Assignment, answers: Sequence[Answer], active_seconds: int) -> str:
    """Keep a whole answer set with its receipt, so that what the platform gets is what we have."""
    with transaction.atomic():
        current = Assignment.objects.select_for_update().get(pk=assignment.pk)
        assignment.receipt = current.receipt
        if current.receipt:
            return current.receipt
        if current.submitted_at:
            raise SeatLostError("The platform has this HIT already; nothing more is saved for it.")
        put_drafts(assignment, answers)
        assignment.receipt = assignment.receipt_code
        assignment.active_seconds = active_seconds
        assignment.save(update_fields=["receipt", "active_seconds"])
        record("saved", assignment, actor=actor_of(assignment.worker))
    return assignment.receipt


def _grade_committed(assignment: Assignment, item_answers: list[ItemAnswer] | None, *, doubted: bool) -> None:
    """Grade, and review the controls that were failed or that are ``doubted``."""
    if grade(assignment, answers=item_answers) or doubted:
        review_controls_of(assignment)


def _clash(assignment: Assignment, items: Mapping[int, Item]) -> CounterpartError:
    """Return an error that names what the database refused: a pair that the worker had judged before, or a seat taken
    meanwhile."""
    again = judged_before(assignment, items)
    places = [place for place, pk in places_among(assignment, items).items() if pk in again]
    if not places:
        return _seat_lost()
    return CounterpartError(
        f"You have judged {counted(len(places), 'pair')} of this HIT before, in another HIT: {some_of(places)}. Return "
        "this HIT and take another."
    )


def judged_before(assignment: Assignment, items: Mapping[int, Item]) -> set[int]:
    """Return those of ``items`` (by key) whose pair the worker has judged; of an image or a caption alone, those that
    they have answered themselves, as another round may ask about it again."""
    judged = set(answers_by([assignment.worker_id]).values_list("image_id", "caption_id", "item_id"))
    pairs = {(image, caption) for image, caption, _ in judged}
    answered = {item for *_, item in judged}
    return {
        pk
        for pk, item in items.items()
        if pk in answered or (item.image_id and item.caption_id and (item.image_id, item.caption_id) in pairs)
    }


def _seat_lost() -> SeatLostError:
    return SeatLostError(
        "You no longer have this HIT: it was returned, or its time ran out and another worker took it."
    )


def _regain(assignment: Assignment) -> bool:
    """Take back the seat of a lease that ran out. False: another worker has it, this worker has taken the HIT again or
    as many others as one worker may, or the round's ceiling is reached."""
    worker = locked(assignment.worker_id)
    if not Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.EXPIRED).exists():
        return False
    again = worker.assignments.filter(hit=assignment.hit_id)
    round = assignment.hit.round
    if again.exclude(state__in=Assignment.ABANDONED).exists() or permit_of(round, worker).left == 0:
        return False
    return has_room_for_seat(round) and claim(assignment.seat_id)
