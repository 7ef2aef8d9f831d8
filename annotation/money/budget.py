"""The one rule that no round passes its ceiling. Everything that promises money asks ``room`` first."""

from decimal import Decimal

from django.db import transaction
from django.db.models import Count, F, QuerySet, Subquery, Sum

from annotation.models import Payment
from annotation.money.ledger import balance_of, commitment_of
from annotation.platforms import want_seats_posted
from core.database.fixed_queries import FixedQuery
from core.errors import CounterpartError
from core.events import record
from hits.models import Round, Seat
from hits.prices import cents
from hits.rounds.round_parameters import PackParameters


class CeilingError(CounterpartError):
    """The act would take a round past its ceiling."""


def locked(round: Round) -> Round:
    """Read the round and lock it until the transaction ends, so that its money moves one change at a time."""
    return Round.objects.select_for_update(no_key=True).get(pk=round.pk)


def room(round: Round, *, reserve_open: bool = False) -> Decimal:
    """Return how many US dollars the round may still promise under its ceiling. It locks the round, so that this holds
    until the transaction ends.

    ``reserve_open`` also subtracts the cost of answer sets that may still come. Negative where a platform has paid past
    the ceiling by itself.
    """
    current = locked(round)
    return balance_of(current).free if reserve_open else current.ceiling - commitment_of(current).bound


def has_room_for_seat(round: Round) -> bool:
    """Whether a worker of the browser pool may take one more seat."""
    # The cheap question first: while the money suffices for all, workers do not wait for the lock of the round.
    return _pays_for_every_seat(round) or room(round) >= round.seat_cost


def _pays_for_every_seat(round: Round) -> bool:
    """Whether the ceiling covers what is owed and paid and every unfilled seat. No lease can then pass it, so the round
    is not locked: workers would wait for each other."""
    ((ceiling, spent, unfilled),) = _needs(round.pk)
    return cents(spent or Decimal(0)) + round.seat_cost * (unfilled or 0) <= ceiling


@FixedQuery
def _needs(round: int) -> QuerySet[Round, tuple[Decimal, Decimal | None, int | None]]:
    """Return the round's ceiling, what it owes and has paid, and its unfilled seats: in one query, as a seat that is
    filled and paid between two might be in neither."""
    earned = Payment.objects.filter(round=round, state__in=Payment.EARNED).order_by().values("round")
    unfilled = Seat.objects.filter(round=round, state__in=Seat.UNFILLED).order_by().values("round")
    spent = earned.annotate(sum=Sum(F("amount") + F("fee"))).values("sum")
    return Round.objects.filter(pk=round).values_list(
        "ceiling", Subquery(spent), Subquery(unfilled.annotate(n=Count("pk")).values("n"))
    )


def check_owed(round: Round, amount: Decimal) -> None:
    """Raise CeilingError if ``amount``, which this transaction has just written down as owed, has taken the round past
    its ceiling. Where the money might be short, or a channel holds it, the round stays locked until the transaction
    ends."""
    if not round.settles and _pays_for_every_seat(round):
        return
    # Read again under the lock: the object at hand may be from before a change of the ceiling.
    round = locked(round)
    left = round.ceiling - commitment_of(round).bound
    if left < 0:
        promised = round.ceiling - left - amount
        raise CeilingError(
            f"Round {round} has committed ${promised}; ${amount} more would pass its ceiling of ${round.ceiling}. "
            "Raise it with set_ceiling."
        )


def check_may_give(round: Round, amount: Decimal) -> None:
    """Raise CeilingError if bonuses of ``amount``, fees included, need more than is free below the ceiling."""
    # Rewards go first: a bonus takes nothing that a worker who is at work, or who may still come, will have earned.
    left = max(room(round, reserve_open=True), Decimal(0))
    if amount > left:
        raise CeilingError(
            f"Round {round} has ${left} left below its ceiling of ${round.ceiling}; this takes ${amount}. "
            "Raise it with set_ceiling."
        )


def set_ceiling(round: Round, amount: Decimal | str, *, actor: str) -> Round:
    """Set the most that a round may cost in US dollars, fees included, and post the seats that it now pays for.

    A worker who takes a HIT at the very moment when a ceiling is lowered may be let in under the old one: if their pay
    would pass the new one, their work waits for a person.
    Raises CounterpartError for an invalid amount, and for one below what is bound: paid, owed, held by a platform or
    being asked of it, or to be earned by those who are at work.
    """
    ceiling = PackParameters.from_json({"ceiling": amount}).ceiling
    with transaction.atomic():
        current = locked(round)
        # Compared under the lock: no more can be owed between the comparison and the change.
        if ceiling < (bound := commitment_of(current).bound):
            raise CounterpartError(
                f"Round {round} has paid, owes or has committed ${bound}; its ceiling cannot be ${ceiling}."
            )
        if ceiling != current.ceiling:
            Round.objects.filter(pk=current.pk).update(ceiling=ceiling)
            record("set ceiling", current, actor=actor, ceiling=str(ceiling), before=str(current.ceiling))
        want_seats_posted(current)
    round.refresh_from_db()
    return round
