"""Raise or lower what a round may cost."""

from decimal import Decimal

from django.db import transaction

from annotation.ledger import locked, note_ceiling
from annotation.reserving import bound_by, reserve
from core.errors import CounterpartError
from core.events import record
from crowd.posting import post_open_seats
from hits.models import Round
from hits.terms import Terms


def set_ceiling(round: Round, ceiling: Decimal, *, actor: str) -> Round:
    """Set the most that a round may cost in US dollars, fees included; seats that wait are planned for anew.

    Raises CounterpartError for an amount that is none, or below what was paid, is owed, is held by the
    platform or asked of it, or will be earned by those who are at work.
    """
    ceiling = Terms(reward=round.reward, ceiling=ceiling).ceiling
    with transaction.atomic():
        held = locked(round)
        if ceiling < (bound := bound_by(held)):
            raise CounterpartError(
                f"Round {round} has paid, owes or has promised ${bound}; its ceiling cannot be ${ceiling}."
            )
        if ceiling != held.ceiling:
            Round.objects.filter(pk=held.pk).update(ceiling=ceiling)
            record("set ceiling", held, actor=actor, ceiling=str(ceiling), before=str(held.ceiling))
        _follow(held)
    round.refresh_from_db()
    return round


def _follow(round: Round) -> None:
    """Let the ledger and the postings follow, once there are any."""
    round.refresh_from_db()
    if round.published_at is None:
        return
    note_ceiling(round)
    reserve(round, subject=round, cause="ceiling set")
    post_open_seats(round)
