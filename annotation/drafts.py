"""Drafts: answers that a worker may still change, so that a closed page or a lost connection costs nothing."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.answers import Answer, check_answer
from annotation.models import Assignment, Draft
from core.errors import CounterpartError


class SeatLostError(CounterpartError):
    """The assignment was submitted, returned, or ran out and its seat went to somebody else."""


def drafts_of(assignment: Assignment) -> QuerySet[Draft]:
    """Return the assignment's drafts, oldest first; until it is submitted, those of the worker's other unsubmitted
    assignments to the HIT are among them."""
    own = Q(assignment=assignment) if assignment.receipt else Q(assignment=assignment) | Q(assignment__receipt="")
    drafts = Draft.objects.filter(own, assignment__worker_id=assignment.worker_id, item__hit_id=assignment.hit_id)
    return drafts.order_by("saved_at", "pk")


def drafted_answers(assignment: Assignment) -> dict[int, Answer]:
    """Return the latest draft of each item, by item."""
    return {
        draft.item_id: Answer(draft.item_id, draft.level, draft.shortcoming, draft.wrong_way)
        for draft in drafts_of(assignment)
    }


def save_draft(assignment: Assignment, answer: Answer) -> None:
    """Keep ``answer`` in place of the item's earlier draft; reasons may still be missing.

    Raises CounterpartError if the item is another HIT's or the answer is malformed, SeatLostError if the
    assignment was submitted or given back.
    """
    with transaction.atomic():
        place = _own_place(assignment, answer.item_id)
        check_answer(answer, place=place, reasons=assignment.hit.round.reasons, complete=False)
        put_drafts(assignment, [answer])


def drop_draft(assignment: Assignment, *, item_id: int) -> None:
    """Forget the draft of one item, as when its answer is undone. Raises what ``save_draft`` raises."""
    with transaction.atomic():
        _own_place(assignment, item_id)
        drafts_of(assignment).filter(item_id=item_id).delete()


def put_drafts(assignment: Assignment, answers: Sequence[Answer]) -> None:
    """Write the answers as drafts of this assignment, each in place of its item's earlier one."""
    now = timezone.now()
    drafts = [
        Draft(
            assignment=assignment,
            item_id=answer.item_id,
            level=answer.level,
            shortcoming=answer.shortcoming,
            wrong_way=answer.wrong_way,
            saved_at=now,
        )
        for answer in answers
    ]
    Draft.objects.bulk_create(
        drafts,
        update_conflicts=True,
        unique_fields=["assignment", "item"],
        update_fields=["level", "shortcoming", "wrong_way", "saved_at"],
    )


def _own_place(assignment: Assignment, item_id: int) -> int:
    """Return the item's place in the assignment's HIT, provided that the assignment may still be answered. It stays
    locked until the transaction ends, so that no draft comes after the submission that it is part of."""
    current = Assignment.objects.select_for_update(of=("self",)).get(pk=assignment.pk)
    if current.platform_state:
        raise SeatLostError("The platform has this HIT already; nothing more is saved for it.")
    if current.is_claim and current.receipt:
        raise SeatLostError("Your answers are saved already; send them to the platform.")
    if current.state not in Assignment.ANSWERABLE:
        raise SeatLostError("This HIT was submitted or given back; nothing more is saved for it.")
    place = assignment.hit.items.filter(pk=item_id).values_list("place", flat=True).first()
    if place is None:
        raise CounterpartError("1 answer is to a pair of another HIT; reload the page and try again.")
    return place
