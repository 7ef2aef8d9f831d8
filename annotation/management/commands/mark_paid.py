"""Note that the workers of a list were paid."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.money.payroll import mark_wages, read_list
from core.progress import TerminalBar
from core.text import counted
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = "Mark all payments of a list from payments as paid. First remove the rows of workers who were not paid."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--csv", type=Path, required=True, help="the list, as payments wrote it")

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> str:
        marked = mark_wages(round, read_list(options["csv"]), actor="mark_paid")
        before = f" {marked.before} were marked before." if marked.before else ""
        paid = counted(marked.payments, "payment")
        return f"Marked {paid} of round {round}, ${marked.amount:,} in all, as paid.{before}"
