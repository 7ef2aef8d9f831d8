"""Give a worker a bonus."""

from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Assignment
from annotation.money.payments import owe_bonus
from core.commands import ActCommand, person_named
from core.errors import CounterpartError
from core.progress import TerminalBar


class Command(ActCommand):
    help = "Give the worker of an assignment a bonus; the same reason again gives no second one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("assignment", type=int, help="the assignment's number, as its page shows it")
        parser.add_argument("--amount", required=True, help="US dollars")
        parser.add_argument("--reason", required=True, help="what the worker reads, up to 200 characters")
        parser.add_argument("--by", required=True, metavar="USER", help="the member of staff who gives it")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        work = Assignment.objects.numbered(options["assignment"])
        by = str(person_named(options["by"]))
        payment = owe_bonus(work, amount=_dollars(options["amount"]), reason=options["reason"], actor=by)
        return f"${payment.amount} are {payment.state} to worker {work.worker} as a bonus."


def _dollars(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or abs(amount) >= 10**8:
        raise CounterpartError(f"Invalid bonus {text!r}: use a positive amount in whole cents.")
    return amount
