"""What a round has promised to pay, against the most that it may cost. Platform fees included."""

from decimal import Decimal

from django.db.models import Sum

from annotation.amounts import cents, seat_cost
from annotation.ledger import EARNED, Account, balances
from annotation.models import Payment
from core.errors import CounterpartError
from hits.models import Round, Seat


class CeilingError(CounterpartError):
    """The wish would take a round past its ceiling."""


def promised(round: Round) -> Decimal:
    """Return what the round owes or has paid in US dollars: rewards, bonuses and their fees."""
    payments = Payment.objects.filter(round=round, state__in=EARNED)
    return sum((cents(one) for one in payments.aggregate(Sum("amount"), Sum("fee")).values() if one), Decimal("0.00"))


def may_lease(round: Round) -> bool:
    """Whether one more lease could still be paid, once everybody who is at work has been."""
    at_work = Seat.objects.filter(hit__round=round, state=Seat.State.TAKEN).count()
    return promised(round) + seat_cost(round) * (at_work + 1) <= round.ceiling


def check_may_owe(round: Round, amount: Decimal) -> None:
    """Raise CeilingError if a reward of ``amount``, fee included, would take the round past its ceiling."""
    owed = promised(round)
    if owed + amount > round.ceiling:
        raise CeilingError(
            f"Round {round} has promised ${owed}; ${amount} more would pass its ceiling of ${round.ceiling}. "
            "Raise it with set_ceiling."
        )


def check_may_give(round: Round, amount: Decimal) -> None:
    """Raise CeilingError if bonuses of ``amount``, fees included, need more than what is promised to nobody: neither
    paid nor owed, held by the platform or planned for answer sets to come."""
    amounts = balances(round)
    kept = sum((amounts[account] for account in Account if account not in (Account.OUTSIDE, Account.FREE)), Decimal(0))
    if kept + amount > round.ceiling:
        raise CeilingError(
            f"Round {round} has ${max(round.ceiling - kept, Decimal(0))} to give within its ceiling of "
            f"${round.ceiling}; this takes ${amount}. Raise it with set_ceiling."
        )
