from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.aggregation import METHODS
from dataset.verdicts import aggregate_round
from hits.models import Round


class Command(ActCommand):
    help = "Write a verdict on every pair of a round from the judgments that count."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="name of the round")
        parser.add_argument("--method", choices=METHODS, default="majority", help="aggregation method")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        return aggregate_round(round, method=options["method"], progress=progress)
