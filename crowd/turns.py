"""Answers given in a platform's frame: kept as the worker goes, saved whole once, and then waiting for the platform."""

import secrets
from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction
from django.utils import timezone

from annotation.answers import Answer, check_answer, check_answer_set
from annotation.drafts import SeatLostError
from annotation.workers import actor_of
from core.errors import CounterpartError
from core.events import record
from crowd.models import PlatformAssignment


def kept_answers(turn: PlatformAssignment) -> dict[int, Answer]:
    """Return the answers of a turn so far, by item."""
    return {int(item): Answer(int(item), **said) for item, said in turn.answers.items()}


def keep_answer(turn: PlatformAssignment, answer: Answer) -> None:
    """Keep ``answer`` in place of the item's earlier one; reasons may still be missing.

    Raises CounterpartError if the item is another HIT's or the answer is malformed, SeatLostError once the answers
    are saved or the platform has them.
    """
    place = _own_place(turn, answer.item_id)
    check_answer(answer, place=place, reasons=turn.posting.hit.round.reasons, complete=False)
    _change(turn, answer.item_id, answer)


def drop_answer(turn: PlatformAssignment, *, item_id: int) -> None:
    """Forget the answer to one item, as when it is undone. Raises what ``keep_answer`` raises."""
    _own_place(turn, item_id)
    _change(turn, item_id, None)


def save_answers(turn: PlatformAssignment, answers: Sequence[Answer], *, active_seconds: int) -> str:
    """Store the whole answer set and return its receipt, which travels to the platform with the labels.

    A second save returns the first one's receipt and changes nothing, so that what the platform gets is what we have.
    Raises CounterpartError unless there is exactly one good answer for each item, SeatLostError where the platform has
    the assignment already without a save of ours.
    """
    hit = turn.posting.hit
    with transaction.atomic():
        current = _locked(turn)
        if not current.receipt:
            _refuse_confirmed(current)
            check_answer_set(answers, {item.pk: item for item in hit.items.all()}, reasons=hit.round.reasons)
            current.answers = {str(answer.item_id): _said(answer) for answer in answers}
            current.active_seconds, current.saved_at = active_seconds, timezone.now()
            current.receipt = secrets.token_hex(16)
            current.save(update_fields=["answers", "active_seconds", "saved_at", "receipt"])
            record("saved", current, actor=actor_of(turn.worker))
    for field in ("answers", "active_seconds", "saved_at", "receipt"):
        setattr(turn, field, getattr(current, field))
    return current.receipt


def _change(turn: PlatformAssignment, item_id: int, answer: Answer | None) -> None:
    """Change one answer among those that another tab may have changed meanwhile."""
    with transaction.atomic():
        current = _locked(turn)
        _refuse_confirmed(current)
        if current.receipt:
            raise SeatLostError("Your answers are saved already; send them to the platform.")
        current.answers.pop(str(item_id), None)
        if answer:
            current.answers[str(item_id)] = _said(answer)
        current.save(update_fields=["answers"])


def _said(answer: Answer) -> dict[str, object]:
    return {name: value for name, value in asdict(answer).items() if name != "item_id"}


def _locked(turn: PlatformAssignment) -> PlatformAssignment:
    return PlatformAssignment.objects.select_for_update().get(pk=turn.pk)


def _refuse_confirmed(turn: PlatformAssignment) -> None:
    if turn.status:
        raise SeatLostError("The platform has this HIT already; nothing more is saved for it.")


def _own_place(turn: PlatformAssignment, item_id: int) -> int:
    place = turn.posting.hit.items.filter(pk=item_id).values_list("place", flat=True).first()
    if place is None:
        raise CounterpartError("1 answer is to a pair of another HIT; reload the page and try again.")
    return place
