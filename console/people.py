"""One worker as staff see them, by pseudonym: where they come from, what they did and earned in each round, what was
written to them. Platform ids are none of it."""

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, Sum

from annotation.masking import mask_workers
from annotation.models import Assignment, Exclusion, Payment, Worker
from crowd.channels.markets import market_of
from crowd.models import Message
from hits.prices import cents

State, Pay = Assignment.State, Payment.State


@dataclass(frozen=True)
class InRound:
    """A worker's work in one round; ``owed`` and ``paid`` are US dollars without the platform's fees."""

    round: str
    submitted: int
    accepted: int
    flagged: int
    excluded: int
    owed: Decimal
    paid: Decimal


@dataclass(frozen=True)
class Sent:
    """A message, and why it could not be delivered if so."""

    message: Message
    failure: str


def origins_of(worker: Worker) -> list[str]:
    """Name the markets that a worker came from; none where they were forgotten."""
    known = worker.identities.order_by("pk").values_list("channel", "environment")
    return [str(market_of(*place)) for place in dict.fromkeys(known)]


def rounds_of(worker: Worker) -> list[InRound]:
    """Return what a worker did and earned in each round, with two queries."""
    money, nothing = _money_of(worker), (Decimal(0), Decimal(0))
    work = Assignment.objects.filter(worker=worker).order_by().values_list("hit__round__name")
    rows = work.annotate(
        submitted=Count("submitted_at"),
        accepted=Count("pk", filter=Q(state=State.ACCEPTED)),
        flagged=Count("pk", filter=Q(state=State.FLAGGED)),
        excluded=Count("pk", filter=Q(state=State.EXCLUDED)),
    )
    named = rows.order_by("hit__round__name")
    return [InRound(name, *counts, *money.get(name, nothing)) for name, *counts in named]  # type: ignore[call-arg]


def messages_to(worker: Worker) -> list[Sent]:
    """Return what was written to a worker, the latest first."""
    rows = list(worker.messages.order_by("-pk")[:50])
    failures = mask_workers([row.failure for row in rows])
    return [Sent(row, failure) for row, failure in zip(rows, failures, strict=True)]


def standing_exclusion(worker: Worker) -> Exclusion | None:
    """Return the exclusion that holds, or None."""
    return worker.exclusions.filter(lifted_at=None).first()


def _money_of(worker: Worker) -> dict[str, tuple[Decimal, Decimal]]:
    """What a worker is owed and was paid, by the round's name."""
    owed, paid = Sum("amount", filter=Q(state=Pay.OWED)), Sum("amount", filter=Q(state=Pay.PAID))
    rows = Payment.objects.filter(assignment__worker=worker).order_by().values("round__name")
    return {
        row["round__name"]: (cents(row["owed"] or Decimal(0)), cents(row["paid"] or Decimal(0)))
        for row in rows.annotate(owed=owed, paid=paid)
    }
