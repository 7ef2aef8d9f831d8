"""The one rule that no round passes its ceiling. Everything that promises money asks ``room`` first."""

from decimal import Decimal

from django.db import transaction

from annotation.ledger import balance_of, commitment_of, spent_on
from annotation.platforms import want_seats_posted
from core.errors import CounterpartError
from core.events import record
from hits.models import Round, Seat
from hits.round_parameters import PackParameters


class CeilingError(CounterpartError):
    """The act would take a round past its ceiling."""


def locked(round: Round) -> Round:
    """Read the round and lock it until the transaction ends, so that its money moves one change at a time."""
    return Round.objects.select_for_update(no_key=True).get(pk=round.pk)


def room(round: Round, *, beside_waiting: bool = False) -> Decimal:
    """Return how many US dollars the round may still promise under its ceiling. It locks the round, so that this holds
    until the transaction ends.

    ``beside_waiting``: what is planned for answer sets that may still come is left to them. Negative where the ceiling
    was passed by what a platform has paid by itself.
    """
    current = locked(round)
    return balance_of(current).free if beside_waiting else current.ceiling - commitment_of(current).bound


def has_room_for_seat(round: Round) -> bool:
    """Whether a worker of the browser pool may take one more seat.

    While the ceiling pays for every seat that is not filled, nobody can pass it, and the round is not locked, as
    workers would wait for each other.
    """
    cost, unfilled = round.seat_cost, Seat.objects.filter(round=round, state__in=Seat.UNFILLED)
    (ceiling,) = Round.objects.values_list("ceiling").get(pk=round.pk)
    return spent_on(round) + cost * unfilled.count() <= ceiling or room(round) >= cost


def check_owed(round: Round, amount: Decimal) -> None:
    """Raise CeilingError if ``amount``, which was just written down as owed, has taken the round past its ceiling. The
    round must be one that was read and locked in this transaction."""
    left = round.ceiling - commitment_of(round).bound
    if left < 0:
        promised = round.ceiling - left - amount
        raise CeilingError(
            f"Round {round} has committed ${promised}; ${amount} more would pass its ceiling of ${round.ceiling}. "
            "Raise it with set_ceiling."
        )


def check_may_give(round: Round, amount: Decimal) -> None:
    """Raise CeilingError if bonuses of ``amount``, fees included, need more than is promised to nobody."""
    left = max(room(round, beside_waiting=True), Decimal(0))
    if amount > left:
        raise CeilingError(
            f"Round {round} has ${left} left below its ceiling of ${round.ceiling}; this takes ${amount}. "
            "Raise it with set_ceiling."
        )


def set_ceiling(round: Round, amount: Decimal | str, *, actor: str) -> Round:
    """Set the most that a round may cost in US dollars, fees included, and post the seats that it now pays for.

    Raises CounterpartError for an invalid amount, and for one below what is bound: paid, owed, held by a platform or
    being asked of it, or to be earned by those who are at work.
    """
    ceiling = PackParameters.from_json({"ceiling": amount}).ceiling
    with transaction.atomic():
        held = locked(round)
        if ceiling < (bound := commitment_of(held).bound):
            raise CounterpartError(
                f"Round {round} has paid, owes or has committed ${bound}; its ceiling cannot be ${ceiling}."
            )
        if ceiling != held.ceiling:
            Round.objects.filter(pk=held.pk).update(ceiling=ceiling)
            record("set ceiling", held, actor=actor, ceiling=str(ceiling), before=str(held.ceiling))
        want_seats_posted(held)
    round.refresh_from_db()
    return round
