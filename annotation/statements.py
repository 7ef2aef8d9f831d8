"""A round's books for people to read: accounts, entries, and what each worker has earned."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from io import StringIO

from django.db.models import Count, Q, Sum

from annotation.amounts import cents
from annotation.ledger import EARNED, Account, balances
from annotation.models import LedgerEntry, Payment
from hits.models import Round

NOTHING = Decimal("0.00")
COLUMNS = ("number", "at", "amount", "from", "to", "cause", "subject")


@dataclass(frozen=True)
class Earner:
    """What one worker has earned in a round in US dollars, by pseudonym: for rewards and bonuses, paid and owed.
    Fees are the platform's."""

    pseudonym: str
    rewards: int
    bonuses: int
    owed: Decimal
    paid: Decimal
    fees: Decimal


def accounts_of(round: Round) -> list[tuple[str, str, Decimal]]:
    """Return every account: its name, what it holds in words, and US dollars. ``outside`` is what the ceiling gave."""
    standing = balances(round)
    return [(account.value, account.label, standing[account]) for account in Account]


def earners_of(round: Round) -> list[Earner]:
    """Return what each worker has earned, the highest sums first."""
    owed, paid = Q(state=Payment.State.OWED), Q(state=Payment.State.PAID)
    rows = (
        Payment.objects.filter(round=round, state__in=EARNED)
        .order_by()
        .values("assignment__worker__pseudonym")
        .annotate(
            rewards=Count("pk", filter=Q(kind=Payment.Kind.REWARD)),
            bonuses=Count("pk", filter=Q(kind=Payment.Kind.BONUS)),
            owed=Sum("amount", filter=owed),
            paid=Sum("amount", filter=paid),
            fees=Sum("fee"),
        )
    )
    earners = [
        Earner(
            row["assignment__worker__pseudonym"],
            row["rewards"],
            row["bonuses"],
            *(cents(row[name] or NOTHING) for name in ("owed", "paid", "fees")),
        )
        for row in rows
    ]
    return sorted(earners, key=lambda earner: (-earner.owed - earner.paid, earner.pseudonym))


def entries_as_csv(round: Round) -> Iterator[str]:
    """Yield the ledger as CSV, a line an entry, the oldest first; no worker's platform id is in it."""
    yield _line(dict(zip(COLUMNS, COLUMNS, strict=True)))
    for number, entry in enumerate(LedgerEntry.objects.filter(round=round).iterator(), 1):
        yield _line(
            {
                "number": number,
                "at": entry.at.isoformat(timespec="seconds"),
                "amount": entry.amount,
                "from": entry.source,
                "to": entry.target,
                "cause": entry.cause,
                "subject": entry.subject,
            }
        )


def _line(row: Mapping[str, object]) -> str:
    buffer = StringIO()
    csv.DictWriter(buffer, COLUMNS).writerow(row)
    return buffer.getvalue()
