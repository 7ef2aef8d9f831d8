"""What a round has promised to pay, against the most that it may cost. Platform fees included."""

from decimal import Decimal

from hits.models import Payment, Round, Seat
from hits.money import round_cost
from journal.errors import CounterpartError


class CeilingError(CounterpartError):
    """The wish would take a round past its ceiling."""


def cost_of(round: Round, assignments: int) -> Decimal:
    """Return what so many assignments of an already published round cost in US dollars."""
    return round_cost(round.reward, assignments=assignments, channel=round.channel)


def may_lease(round: Round) -> bool:
    """Whether one more lease could still be paid, once everybody who is at work has been."""
    at_work = Seat.objects.filter(hit__round=round, state=Seat.State.TAKEN).count()
    return cost_of(round, _payments(round) + at_work + 1) <= round.ceiling


def check_may_owe(round: Round) -> None:
    """Raise CeilingError if one more payment would take the round past its ceiling."""
    owed = _payments(round)
    if cost_of(round, owed + 1) > round.ceiling:
        raise CeilingError(
            f"Round {round} owes ${cost_of(round, owed)} for {owed} assignments; one more would pass its ceiling "
            f"of ${round.ceiling}. Raise the ceiling, or decide not to pay."
        )


def _payments(round: Round) -> int:
    return Payment.objects.filter(round=round, state__in=(Payment.State.OWED, Payment.State.PAID)).count()
