"""Money set aside for the answer sets that a round still waits for: as many as its ceiling leaves room for."""

from collections.abc import Iterable
from decimal import Decimal

from django.db import transaction
from django.db.models import Model

from annotation.amounts import seat_cost
from annotation.coming import short_of_work, unposted
from annotation.ledger import Account, balances, locked, move, numbered
from crowd import channels
from hits.models import Round, Seat

GONE = (Account.HELD, Account.OWED, Account.PAID, Account.FEES)


def reserve(round: Round, *, subject: Model, cause: str) -> Decimal:
    """Bring what is planned to what the seats want and the ceiling allows; returns the change in US dollars.

    To be called after whatever lets a round wait for more answer sets, or for fewer: published, closed, a seat opened
    again, a decision. ``subject`` and ``cause`` say in the ledger what that was. Repeating it changes nothing.
    """
    if not round.channel:
        return Decimal("0.00")
    with transaction.atomic(savepoint=False):
        held = locked(round)
        amounts = balances(held)
        change = planned_for(held, amounts) - amounts[Account.PLANNED]
        ends = (Account.FREE, Account.PLANNED) if change > 0 else (Account.PLANNED, Account.FREE)
        cause = numbered(held, subject, cause)
        move(held, abs(change), source=ends[0], target=ends[1], subject=subject, cause=cause)
    return change


def reserve_where_closed(hits: Iterable[int]) -> None:
    """As ``reserve`` for the closed rounds of these HITs, where a seat that comes free waits for nobody any more."""
    for round in Round.objects.filter(hits__in=list(hits), closed_at__isnull=False).distinct():
        reserve(round, subject=round, cause="seat given up")


def planned_for(round: Round, amounts: dict[str, Decimal]) -> Decimal:
    """Return what should be planned in US dollars, by the seats, the postings and the other accounts' ``amounts``."""
    cost = seat_cost(round)
    return cost * min(waiting(round), _room(round, amounts)) if cost else Decimal("0.00")


def bound_by(round: Round) -> Decimal:
    """Return what cannot be taken back in US dollars: gone, owed, held, asked of the platform in postings, or what
    those will earn who are at work in the house's pool or whose work waits for a decision."""
    if not round.channel:
        return Decimal("0.00")
    amounts = balances(round)
    coming = unposted(round) if channels.get(round.channel).is_remote else _at_work(round)
    return sum((amounts[account] for account in GONE), seat_cost(round) * coming)


def affordable(round: Round) -> int:
    """Count the answer sets that the ceiling leaves room for, beyond those that are asked of the platform already."""
    return max(_room(round, balances(round)) - unposted(round), 0)


def waiting(round: Round) -> int:
    """Count the answer sets that are neither earned nor in a platform's hands, and may still come.

    In the house's pool: seats that nobody has filled; once it is closed, those that somebody is at. On a platform:
    what is yet to be posted; once it is closed, what is written down for posting and not yet called off.
    """
    if channels.get(round.channel).is_remote:
        short = sum(missing for _, missing in short_of_work(round)) if round.state == "open" else 0
        return unposted(round) + short
    at_work = _at_work(round)
    if round.state == "closed":
        return at_work
    return at_work + Seat.objects.filter(hit__round=round, state=Seat.State.OPEN).count()


def _at_work(round: Round) -> int:
    """Count the seats that are taken and not decided."""
    return Seat.objects.filter(hit__round=round, state=Seat.State.TAKEN).count()


def _room(round: Round, amounts: dict[str, Decimal]) -> int:
    """Count the answer sets that what is left under the ceiling would pay; any number where they cost nothing."""
    cost = seat_cost(round)
    left = round.ceiling - sum((amounts[account] for account in GONE), Decimal("0.00"))
    return max(int(left // cost), 0) if cost else 10**9
