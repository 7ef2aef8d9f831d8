"""Codes that workers show as proof: of one HIT (its receipt), and of all their work in a round."""

import re
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet, Sum

from annotation.models import Assignment, Payment, Worker
from annotation.models.work import RECEIPT, RECEIPT_LENGTH
from annotation.people.admission import hits_of
from core.errors import CounterpartError
from core.web.signatures import is_signature, signature
from hits.models import Round
from hits.prices import cents

COMPLETION = "hits.completion"
COMPLETION_LENGTH = 12
COMPLETION_CODE = re.compile(r"c(\d{1,18})-(\d{1,18})-([0-9a-f]{12})")
RECEIPT_CODE = re.compile(r"(\d{1,18})-([0-9a-f]{10})")


@dataclass(frozen=True)
class Proof:
    """What a genuine code proves: one HIT, or all ``hits`` that the worker submitted in the round. ``owed`` and
    ``paid`` are US dollars, bonuses included."""

    worker: Worker
    round: Round
    of: str
    hits: int
    owed: Decimal
    paid: Decimal


def completion_code(round: Round, worker: Worker) -> str:
    """Return the code for a worker's work in a round: the same until the site's key changes; it cannot be forged."""
    name = f"{round.pk}-{worker.pk}"
    return f"c{name}-{signature(COMPLETION, name, length=COMPLETION_LENGTH)}"


def verify_code(code: str) -> Proof:
    """Return what a worker's code proves; capitals and spaces do not matter.

    Raises CounterpartError for a forged or mistyped code, and for a code whose worker has submitted nothing.
    """
    normalised = "".join(code.split()).lower()
    proof = None
    if match := COMPLETION_CODE.fullmatch(normalised):
        proof = _prove_round(match[3], round_id=int(match[1]), worker_id=int(match[2]))
    elif match := RECEIPT_CODE.fullmatch(normalised):
        proof = _prove_hit(match[2], assignment_id=int(match[1]))
    if proof:
        return proof
    raise CounterpartError(
        f"Invalid code {code.strip()[:60]!r}. Check it for typing errors, or ask the worker to copy it again."
    )


def _prove_round(signed: str, *, round_id: int, worker_id: int) -> Proof | None:
    round = Round.objects.filter(pk=round_id).first()
    worker = Worker.objects.filter(pk=worker_id).first()
    if round is None or worker is None:
        return None
    if not is_signature(signed, COMPLETION, f"{round.pk}-{worker.pk}", length=COMPLETION_LENGTH):
        return None
    submitted = hits_of(worker).filter(hit__round=round, state__in=Assignment.SUBMITTED).count()
    if not submitted:
        raise CounterpartError(f"The code is genuine, but worker {worker} has submitted nothing in round {round}.")
    payments = Payment.objects.filter(round=round, assignment__worker=worker)
    return Proof(worker, round, "all their HITs in the round", submitted, *_sums(payments))


def _prove_hit(signed: str, *, assignment_id: int) -> Proof | None:
    rows = Assignment.objects.select_related("hit__round", "worker")
    assignment = rows.filter(pk=assignment_id, state__in=Assignment.SUBMITTED).first()
    if assignment is None or not is_signature(signed, RECEIPT, str(assignment.pk), length=RECEIPT_LENGTH):
        return None
    payments = Payment.objects.filter(assignment=assignment)
    return Proof(assignment.worker, assignment.hit.round, f"HIT {assignment.hit.number}", 1, *_sums(payments))


def _sums(payments: QuerySet[Payment]) -> tuple[Decimal, Decimal]:
    sums = dict(payments.order_by().values_list("state").annotate(Sum("amount")))
    return cents(sums.get(Payment.State.OWED, Decimal(0))), cents(sums.get(Payment.State.PAID, Decimal(0)))
