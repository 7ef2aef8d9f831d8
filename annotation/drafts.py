"""Keep answers that a worker may still change, so that a closed page or a lost connection costs nothing."""

from django.db.models import QuerySet
from django.utils import timezone

from annotation.answers import Answer, check_answer
from annotation.models import Assignment, Draft
from core.errors import CounterpartError

# A lease that ran out may still be answered: whether its seat is free decides annotation.deciding.
ANSWERABLE = (Assignment.State.LEASED, Assignment.State.EXPIRED)


class SeatLostError(CounterpartError):
    """The assignment was submitted, returned, or ran out and its seat went to somebody else."""


def drafts_of(assignment: Assignment) -> QuerySet[Draft]:
    """Return the worker's drafts of this HIT, oldest first; those of an earlier lease of theirs are among them."""
    drafts = Draft.objects.filter(assignment__worker_id=assignment.worker_id, item__hit_id=assignment.hit_id)
    return drafts.order_by("saved_at", "pk")


def drafted_answers(assignment: Assignment) -> dict[int, Answer]:
    """Return the worker's drafts of this HIT by item, the latest of each."""
    return {
        draft.item_id: Answer(draft.item_id, draft.level, draft.shortcoming, draft.wrong_way)
        for draft in drafts_of(assignment)
    }


def save_draft(assignment: Assignment, answer: Answer) -> None:
    """Keep ``answer`` in place of the item's earlier draft; reasons may still be missing.

    Raises CounterpartError if the item is another HIT's or the answer is malformed, SeatLostError if the
    assignment was submitted or given back.
    """
    place = _own_place(assignment, answer.item_id)
    check_answer(answer, place=place, reasons=assignment.hit.round.reasons, complete=False)
    draft = Draft(
        assignment=assignment,
        item_id=answer.item_id,
        level=answer.level,
        shortcoming=answer.shortcoming,
        wrong_way=answer.wrong_way,
        saved_at=timezone.now(),
    )
    Draft.objects.bulk_create(
        [draft],
        update_conflicts=True,
        unique_fields=["assignment", "item"],
        update_fields=["level", "shortcoming", "wrong_way", "saved_at"],
    )


def drop_draft(assignment: Assignment, *, item_id: int) -> None:
    """Forget the draft of one item, as when its answer is undone. Raises what ``save_draft`` raises."""
    _own_place(assignment, item_id)
    drafts_of(assignment).filter(item_id=item_id).delete()


def _own_place(assignment: Assignment, item_id: int) -> int:
    """Return the item's place in the assignment's HIT, provided that the assignment may still be answered."""
    if not Assignment.objects.filter(pk=assignment.pk, state__in=ANSWERABLE).exists():
        raise SeatLostError("This HIT was submitted or given back; nothing more is saved for it.")
    place = assignment.hit.items.filter(pk=item_id).values_list("place", flat=True).first()
    if place is None:
        raise CounterpartError("1 answer is to a pair of another HIT; reload the page and try again.")
    return place
