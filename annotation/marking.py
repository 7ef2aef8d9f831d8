"""Take back the list of what was owed, once it was paid outside: each payment of it is paid, once."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from django.db import transaction

from annotation.models import Payment
from annotation.payroll import COLUMNS
from core.errors import CounterpartError, some_of
from crowd.settling import mark_paid
from hits.models import Round

NEEDED = ("worker", "amount", "payments")
MAX_BYTES = 5_000_000

Row = dict[str, str]


@dataclass(frozen=True)
class Marked:
    """What marking did: so many payments of so many US dollars are paid now; ``before`` were so already."""

    payments: int
    amount: Decimal
    before: int


def read_list(path: Path) -> str:
    """Read a list from a file. Raises CounterpartError for one that is not there or no text."""
    try:
        return as_text(path.read_bytes())
    except OSError as error:
        raise CounterpartError(f"{path} cannot be read ({error.strerror}).") from error


def as_text(content: bytes) -> str:
    """Return a file's text. Raises CounterpartError for one that is too large, or not UTF-8."""
    if len(content) > MAX_BYTES:
        raise CounterpartError(f"The file has {len(content):,} bytes; a list of payments has at most {MAX_BYTES:,}.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CounterpartError("The file is no UTF-8 text; save it as CSV (UTF-8).") from error
    if "\0" in text:
        raise CounterpartError("The file holds NUL characters; save it as CSV (UTF-8).")
    return text


def mark_wages(round: Round, text: str, *, actor: str) -> Marked:
    """Mark as paid what the rows of a list name; leave out the rows of those who were not paid. Once each.

    Raises CounterpartError, and marks nothing, for a round that its platform pays, for what is no such list, and where
    a row's amount, worker or payments are not what was owed.
    """
    _refuse_platform(round)
    with transaction.atomic():
        paid = [payment for row in _rows(text) for payment in _checked(round, row)]
        if len({payment.pk for payment in paid}) != len(paid):
            raise CounterpartError("Some payments are named by several rows; mark the list as it was written.")
        now = [payment for payment in paid if mark_paid(payment, actor=actor)]
    return Marked(len(now), sum((payment.amount for payment in now), Decimal("0.00")), len(paid) - len(now))


def _refuse_platform(round: Round) -> None:
    if round.settles:
        raise CounterpartError(f"Round {round} is paid by {round.channel} itself; there is nothing to mark by hand.")


def _rows(text: str) -> Iterator[tuple[int, Row]]:
    """Read the rows with their line numbers; spreadsheets may have written other separators."""
    header = text.partition("\n")[0]
    reader = csv.DictReader(io.StringIO(text), delimiter=next((mark for mark in ";\t" if mark in header), ","))
    try:
        _check_columns(reader.fieldnames or ())
        for row in reader:
            yield reader.line_num, {name: (row[name] or "").strip() for name in NEEDED}
    except csv.Error as error:
        raise CounterpartError(f"Line {reader.line_num + 1} cannot be read as CSV ({error}).") from error


def _check_columns(names: Sequence[str]) -> None:
    if missing := [name for name in NEEDED if name not in names]:
        raise CounterpartError(
            f"The file lacks the columns {some_of(missing)}; it needs those that payments wrote: {', '.join(COLUMNS)}."
        )


def _checked(round: Round, numbered: tuple[int, Row]) -> Sequence[Payment]:
    """Return the payments of a row that is right in all its parts."""
    line, row = numbered
    keys = row["payments"].removeprefix("'").split()
    known = Payment.objects.filter(round=round, assignment__worker__pseudonym=row["worker"].removeprefix("'"))
    named = known.filter(pk__in=[key for key in keys if _is_key(key)]).order_by("pk")
    payments = list(named.select_for_update(of=("self",)))
    where = f"Line {line}, worker {row['worker'] or '(none)'}"
    if not keys or len(payments) != len(keys):
        raise CounterpartError(
            f"{where}: {len(keys)} payments are named, of which {len(payments)} are theirs in round {round}. "
            "Give back the row as it was written."
        )
    if withdrawn := [payment.pk for payment in payments if payment.state == Payment.State.WITHDRAWN]:
        raise CounterpartError(
            f"{where}: {len(withdrawn)} payments were withdrawn since: {some_of(withdrawn)}. Write the list anew."
        )
    owed = _total(payments)
    if _amount(row["amount"]) != owed:
        raise CounterpartError(f"{where}: {row['amount'] or 'nothing'} is said to be paid, and ${owed} was owed.")
    return payments


def _total(payments: Iterable[Payment]) -> Decimal:
    return sum((payment.amount for payment in payments), Decimal("0.00"))


def _amount(text: str) -> Decimal | None:
    """Read US dollars; a comma for the point is a spreadsheet's."""
    try:
        amount = Decimal(text.removeprefix("'").removeprefix("$").replace(",", "."))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 18
