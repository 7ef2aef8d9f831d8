"""Hold a round's ledger against the rows that it is about, and name every difference."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from annotation.amounts import cents, seat_cost
from annotation.ledger import EARNED, Account, balances
from annotation.models import LedgerEntry, Payment
from annotation.reserving import planned_for
from core.events import subject_of
from crowd.models import PlatformAssignment, Posting
from hits.models import Round

NOTHING = Decimal("0.00")
Positions = dict[str, dict[str, Decimal]]


@dataclass(frozen=True)
class Difference:
    """What the ledger says of an account, or of one row's share in it, and what the rows say; in US dollars."""

    subject: str
    account: str
    ledger: Decimal
    rows: Decimal

    def __str__(self) -> str:
        return f"{self.subject}: {self.account} is ${self.ledger} in the ledger and ${self.rows} by the rows"


def check_ledger(round: Round) -> list[Difference]:
    """Return every difference: of each payment and posting by itself, then of whole accounts. Empty where all agrees.

    A round that was never published has no books, and none are missed.
    """
    if round.published_at is None:
        return []
    positions = _positions(round)
    return [*_of_payments(round, positions), *_of_postings(round, positions), *_of_accounts(round)]


def by_the_rows(round: Round) -> dict[str, Decimal]:
    """Return what should stand in each account in US dollars, by the round's payments, postings and seats."""
    amounts = dict.fromkeys(Account.values, NOTHING)
    for payment in Payment.objects.filter(round=round):
        for account, amount in _shares(payment).items():
            amounts[account] += amount
    amounts[Account.HELD] = seat_cost(round) * held_slots(round)
    amounts[Account.OUTSIDE] = -round.ceiling
    amounts[Account.PLANNED] = planned_for(round, amounts)
    amounts[Account.FREE] = -sum(amounts.values(), NOTHING)
    return amounts


def held_slots(round: Round) -> int:
    """Count the answer sets that the platform still keeps money for: posted, neither given up, paid nor rejected."""
    postings = Posting.objects.filter(hit__round=round)
    slots = sum(_slots_of(posting) for posting in _with_listed(postings))
    earned = Payment.objects.filter(assignment=OuterRef("assignment"), kind=Payment.Kind.REWARD, state__in=EARNED)
    turns = PlatformAssignment.objects.filter(posting__hit__round=round)
    settled = turns.filter(Q(status=PlatformAssignment.Status.REJECTED) | Exists(earned))
    return slots - settled.count()


def _of_payments(round: Round, positions: Positions) -> Iterator[Difference]:
    """Each payment's own entries must leave it where its state says."""
    for payment in Payment.objects.filter(round=round).order_by("pk"):
        theirs, wanted = positions[subject_of(payment)], _shares(payment)
        for account in (Account.OWED, Account.PAID, Account.FEES):
            if theirs[account] != wanted.get(account, NOTHING):
                yield Difference(
                    f"payment {payment.pk} of {payment.assignment}",
                    account,
                    theirs[account],
                    wanted.get(account, NOTHING),
                )


def _of_postings(round: Round, positions: Positions) -> Iterator[Difference]:
    """What each posting had set aside must be what the platform knows of it."""
    cost = seat_cost(round)
    for posting in _with_listed(Posting.objects.filter(hit__round=round).order_by("pk")):
        held, wanted = positions[subject_of(posting)][Account.HELD], cost * _slots_of(posting)
        if held != wanted:
            yield Difference(str(posting), Account.HELD, held, wanted)


def _of_accounts(round: Round) -> Iterator[Difference]:
    standing, wanted = balances(round), by_the_rows(round)
    for account in Account.values:
        if standing[account] != wanted[account]:
            yield Difference(f"round {round}", account, standing[account], wanted[account])


def _shares(payment: Payment) -> dict[str, Decimal]:
    """Where a payment's money stands by its state."""
    if payment.state == Payment.State.OWED:
        return {Account.OWED: payment.amount + payment.fee}
    if payment.state == Payment.State.PAID:
        return {Account.PAID: payment.amount, Account.FEES: payment.fee}
    return {}


def _with_listed(postings: QuerySet[Posting]) -> QuerySet[Any]:
    """The postings, each with how many of its answer sets the platform has listed."""
    return postings.annotate(listed=Count("assignments", filter=~Q(assignments__status="")))


def _slots_of(posting: Any) -> int:
    """Answer sets that money was set aside for, less those that the platform gave up when the posting was over."""
    return int(posting.listed if posting.settled_at else posting.posted_assignments)


def _positions(round: Round) -> Positions:
    """What the entries about each subject leave in each account: subject to account to US dollars."""
    positions: Positions = defaultdict(lambda: defaultdict(lambda: NOTHING))
    entries = LedgerEntry.objects.filter(round=round).order_by()
    for subject, source, target, total in entries.values_list("subject", "source", "target").annotate(
        total=Sum("amount")
    ):
        positions[subject][source] -= cents(total)
        positions[subject][target] += cents(total)
    return positions
