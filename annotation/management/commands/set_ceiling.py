"""Change what a round may cost."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.money.budget import set_ceiling
from core.commands import ActCommand
from core.progress import TerminalBar
from hits.models import Round


class Command(ActCommand):
    help = "Set the most that a round may cost, fees included. Not below what is paid, owed, held or at work."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")
        parser.add_argument("ceiling", help="US dollars")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        round = set_ceiling(Round.objects.named(options["round"]), options["ceiling"], actor="set_ceiling")
        return f"Round {round} may cost ${round.ceiling}."
