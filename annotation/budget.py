"""The one rule that no round passes its ceiling. Everything that promises money asks ``room`` first."""

from decimal import Decimal

from annotation.ledger import balance_of, commitment_of, spent_on
from core.errors import CounterpartError
from hits.models import Round, Seat


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
    cost, ceiling = round.seat_cost, Round.objects.values_list("ceiling", flat=True).get(pk=round.pk)
    unfilled = Seat.objects.filter(hit__round=round).exclude(state=Seat.State.FILLED).count()
    return spent_on(round) + cost * unfilled <= ceiling or room(round) >= cost


def check_owed(round: Round, amount: Decimal) -> None:
    """Raise CeilingError if ``amount``, which was just written down as owed, has taken the round past its ceiling."""
    left = room(round)
    if left < 0:
        promised = round.ceiling - left - amount
        raise CeilingError(
            f"Round {round} has promised ${promised}; ${amount} more would pass its ceiling of ${round.ceiling}. "
            "Raise it with set_ceiling."
        )


def check_may_give(round: Round, amount: Decimal) -> None:
    """Raise CeilingError if bonuses of ``amount``, fees included, need more than is promised to nobody."""
    left = max(room(round, beside_waiting=True), Decimal(0))
    if amount > left:
        raise CeilingError(
            f"Round {round} has ${left} to give within its ceiling of ${round.ceiling}; this takes ${amount}. "
            "Raise it with set_ceiling."
        )
