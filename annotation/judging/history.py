"""What became of a worker's own work: receipts, outcomes in plain words, and pay."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from hits.models import Assignment, Payment, Worker

State = Assignment.State

OUTCOMES = {
    State.SUBMITTED: "being checked",
    State.FLAGGED: "being checked",
    State.ACCEPTED: "accepted",
    State.EXCLUDED: "not counted",
}


@dataclass(frozen=True)
class Work:
    """One submitted HIT as its worker sees it; ``pay`` is None while nothing is owed."""

    receipt: str
    round_name: str
    submitted_at: datetime | None
    outcome: str
    pay: Decimal | None
    paid: bool


def work_of(worker: Worker) -> list[Work]:
    """Return everything the worker submitted, in any round, newest first."""
    submitted = worker.assignments.filter(state__in=OUTCOMES).select_related("hit__round", "payment")
    return [_work(assignment) for assignment in submitted.order_by("-submitted_at", "-pk")]


def earned(works: Sequence[Work]) -> Decimal:
    return sum((work.pay for work in works if work.pay is not None), Decimal("0.00"))


def receipt_of(assignment: Assignment) -> Work | None:
    """Return what the receipt page shows, or None while nothing was submitted."""
    submitted = Assignment.objects.filter(pk=assignment.pk, state__in=OUTCOMES).select_related("hit__round", "payment")
    return next(map(_work, submitted), None)


def _work(assignment: Assignment) -> Work:
    payment: Payment | None = getattr(assignment, "payment", None)
    if payment and payment.state == Payment.State.WITHDRAWN:
        payment = None
    return Work(
        receipt=assignment.receipt,
        round_name=assignment.hit.round.name,
        submitted_at=assignment.submitted_at,
        outcome=OUTCOMES[State(assignment.state)],
        pay=payment.amount if payment else None,
        paid=payment is not None and payment.state == Payment.State.PAID,
    )
