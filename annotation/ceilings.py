"""Raise or lower what a round may cost."""

from decimal import Decimal

from django.db import transaction

from annotation.budget import locked
from annotation.ledger import commitment_of
from core.errors import CounterpartError
from core.events import record
from crowd.posting import post_open_seats
from hits.models import Round
from hits.parameters import PackParameters


def set_ceiling(round: Round, amount: Decimal | str, *, actor: str) -> Round:
    """Set the most that a round may cost in US dollars, fees included, and post the seats that it now pays for.

    Raises CounterpartError for an invalid amount, and for one below what was paid, is owed, is held by the
    platform or asked of it, or will be earned by those who are at work.
    """
    ceiling = PackParameters.from_json({"ceiling": amount}).ceiling
    with transaction.atomic():
        held = locked(round)
        if ceiling < (bound := commitment_of(held).bound):
            raise CounterpartError(
                f"Round {round} has paid, owes or has promised ${bound}; its ceiling cannot be ${ceiling}."
            )
        if ceiling != held.ceiling:
            Round.objects.filter(pk=held.pk).update(ceiling=ceiling)
            record("set ceiling", held, actor=actor, ceiling=str(ceiling), before=str(held.ceiling))
        post_open_seats(held)
    round.refresh_from_db()
    return round
