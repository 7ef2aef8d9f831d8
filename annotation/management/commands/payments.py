"""Write down whom a round owes how much."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.money.payroll import wages_of, write_wages
from core.errors import CounterpartError
from core.progress import TerminalBar
from core.text import counted
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = (
        "Write the list of workers whom a round owes money, without simulated ones, to pay from. Give it back to "
        "mark_paid afterwards."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--csv", type=Path, required=True, help="the file to write; it must not exist")

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> str:
        path = options["csv"]
        wages = wages_of(round)
        listed = write_wages(round)
        if not wages:
            return f"Round {round} owes people nothing; no file was written."
        try:
            with path.open("x", newline="", encoding="utf-8") as file:
                file.write(listed)
        except OSError as error:
            raise CounterpartError(f"{path} cannot be written ({error.strerror}); choose another --csv.") from error
        total = sum(wage.amount for wage in wages)
        owed = f"{counted(len(wages), 'worker is', 'workers are')} owed ${total:,} in all."
        return f"{path}: {owed}\nOnce paid: mark_paid {round} --csv {path}"
