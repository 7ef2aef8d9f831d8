"""Payroll: the list of what a round owes each worker, and marking it as paid once it was paid outside."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

from django.db import transaction

from annotation.models import Payment, Worker, WorkerIdentity
from annotation.money.payments import mark_paid
from annotation.people.receipts import completion_code
from core.errors import CounterpartError, some_of
from core.text import counted, harmless
from core.untrusted import whole_number
from corpus.tables import read_rows
from counterpart_metrics.table_rows import Row
from hits.models import Round

COLUMNS = ("worker", "platform", "platform_id", "hits", "amount", "completion_code", "receipts", "payments")
NEEDED = ("worker", "amount", "payments")  # columns that marking reads
MAX_BYTES = 5_000_000  # of a list that is sent to the site


@dataclass
class Wage:
    """What one worker is owed in a round: ``payments`` with their assignments. ``identity`` is their platform and the
    id there, empty for a worker of the browser pool."""

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


@dataclass(frozen=True)
class Marked:
    """What marking a list did: ``payments`` of ``amount`` US dollars are marked as paid now, ``before`` were before."""

    payments: int
    amount: Decimal
    before: int


def wages_of(round: Round) -> list[Wage]:
    """Return what is owed to people and not yet paid in a round, by worker, in the order in which it was first owed."""
    owed = Payment.objects.filter(round=round, state=Payment.State.OWED, assignment__worker__simulated=False)
    wages: dict[int, Wage] = {}
    rows = owed.order_by("pk").select_related("assignment__worker")
    for payment in rows.prefetch_related("assignment__worker__identities"):
        worker = payment.assignment.worker
        wages.setdefault(worker.pk, Wage(worker, _identity(worker))).payments.append(payment)
    return list(wages.values())


def write_wages(round: Round) -> str:
    """Return the list as CSV, a row a worker. No cell of it can be taken for a formula by a spreadsheet.

    Raises CounterpartError if the round's channel settles payments itself: what it pays would be paid twice.
    """
    _refuse_settled(round)
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for wage in wages_of(round):
        keys = " ".join(str(payment.pk) for payment in wage.payments)
        receipts = " ".join(wage.receipts)
        code = completion_code(round, wage.worker)
        cells = [wage.worker.pseudonym, *wage.identity, wage.hits, wage.amount, code, receipts, keys]
        writer.writerow([harmless(str(cell)) for cell in cells])
    return written.getvalue()


def mark_wages(round: Round, file: Path, *, actor: str) -> Marked:
    """Mark the payments that the rows of a list name as paid, each once. The list leaves out workers who were not paid;
    spreadsheets may have written it in a form of their own (``corpus.tables``).

    Raises CounterpartError, and marks nothing, if the round's channel settles payments itself, if the file is not a
    list of payments, and if the worker, the payments or the amount of a row are not what was owed.
    """
    _refuse_settled(round)
    rows = list(read_rows(file, {name: (name,) for name in NEEDED}, required=NEEDED))
    with transaction.atomic():
        paid = [payment for row in rows for payment in _checked(round, row)]
        if len({payment.pk for payment in paid}) != len(paid):
            raise CounterpartError("Several rows name the same payment. Use the list as it was written.")
        # Those that were marked before stay as they are: a list may be sent twice.
        now = [payment for payment in paid if mark_paid(payment, actor=actor)]
    return Marked(len(now), sum((payment.amount for payment in now), Decimal("0.00")), len(paid) - len(now))


def _refuse_settled(round: Round) -> None:
    if round.settles:
        raise CounterpartError(f"Round {round} is paid by {round.channel} itself; there is nothing to pay by hand.")


def _identity(worker: Worker) -> tuple[str, str]:
    outside = [one for one in worker.identities.all() if one.channel not in WorkerIdentity.OURS]
    return (outside[0].channel, outside[0].external_id) if outside else ("", "")


def _checked(round: Round, numbered: Row) -> Sequence[Payment]:
    """Return the payments of a row that is right in all its parts."""
    line, cells = numbered
    row = {name: "" if cell is None else str(cell).strip() for name, cell in cells.items()}
    keys = row["payments"].removeprefix("'").split()
    known = Payment.objects.filter(round=round, assignment__worker__pseudonym=row["worker"].removeprefix("'"))
    named = known.filter(pk__in=[key for key in map(whole_number, keys) if key is not None]).order_by("pk")
    payments = list(named.select_for_update(of=("self",)))
    where = f"Line {line}, worker {row['worker'] or '(none)'}"
    if not keys or len(payments) != len(keys):
        raise CounterpartError(
            f"{where}: only {len(payments)} of {len(keys)} payment IDs belong to this worker in round {round}. "
            "Restore the original row."
        )
    if withdrawn := [payment.pk for payment in payments if payment.state == Payment.State.WITHDRAWN]:
        raise CounterpartError(
            f"{where}: {counted(len(withdrawn), 'payment was', 'payments were')} withdrawn since: "
            f"{some_of(withdrawn)}. Write the list again."
        )
    owed = sum((payment.amount for payment in payments), Decimal("0.00"))
    if _amount(row["amount"]) != owed:
        raise CounterpartError(f"{where}: the amount is {row['amount'] or 'missing'}, but ${owed} was owed.")
    return payments


def _amount(text: str) -> Decimal | None:
    """Read US dollars; a comma for the point is a spreadsheet's."""
    try:
        amount = Decimal(text.removeprefix("'").removeprefix("$").replace(",", "."))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None
