"""Whom a round owes how much: a list to pay from."""

import csv
import io
from dataclasses import dataclass, field
from decimal import Decimal

from annotation.codes import completion_code
from annotation.models import Payment, Worker, WorkerIdentity
from annotation.wording import harmless
from hits.models import Round

COLUMNS = ("worker", "platform", "platform_id", "hits", "amount", "completion_code", "receipts", "payments")


@dataclass
class Wage:
    """What one worker is owed in a round: ``payments`` with their assignments; ``identity`` is platform and id, where
    a platform sent them."""

    worker: Worker
    identity: tuple[str, str] = ("", "")
    payments: list[Payment] = field(default_factory=list)

    @property
    def amount(self) -> Decimal:
        return sum((payment.amount for payment in self.payments), Decimal("0.00"))

    @property
    def hits(self) -> int:
        return len({payment.assignment_id for payment in self.payments})

    @property
    def receipts(self) -> list[str]:
        return [payment.assignment.receipt for payment in self.payments if payment.kind == Payment.Kind.REWARD]


def wages_of(round: Round) -> list[Wage]:
    """Return what is owed and not yet paid in a round, by worker, in the order in which it was first owed."""
    owed = Payment.objects.filter(round=round, state=Payment.State.OWED).order_by("pk")
    wages: dict[int, Wage] = {}
    for payment in owed.select_related("assignment__worker").prefetch_related("assignment__worker__identities"):
        worker = payment.assignment.worker
        wages.setdefault(worker.pk, Wage(worker, _identity(worker))).payments.append(payment)
    return list(wages.values())


def write_wages(round: Round) -> str:
    """Return the list as CSV, a row a worker. No cell of it can be taken for a formula by a spreadsheet."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for wage in wages_of(round):
        keys = " ".join(str(payment.pk) for payment in wage.payments)
        receipts, code = " ".join(wage.receipts), completion_code(round, wage.worker)
        cells = [wage.worker.pseudonym, *wage.identity, wage.hits, wage.amount, code, receipts, keys]
        writer.writerow([harmless(str(cell)) for cell in cells])
    return written.getvalue()


def _identity(worker: Worker) -> tuple[str, str]:
    outside = [one for one in worker.identities.all() if one.channel not in WorkerIdentity.OURS]
    return (outside[0].channel, outside[0].external_id) if outside else ("", "")
