from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from core.seeds import add_seed
from dataset.aggregation import METHODS, TIES
from dataset.cases import update_queue
from dataset.verdicts import aggregate_round
from hits.models import Round


class Command(ActCommand):
    help = "Write a verdict on every pair of a round from the judgments that count."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="name of the round")
        parser.add_argument(
            "--method",
            choices=METHODS,
            default="majority",
            help="aggregation method (default majority); ordinal and consensus move pairs from level 2 to level 1, so "
            "strict labels depend on it",
        )
        parser.add_argument("--ties", choices=TIES, default="median", help="policy for tied levels (default median)")
        add_seed(parser, "random seed, for mace")
        parser.add_argument("--workers", action="store_true", help="print a row of figures of every worker")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        figures = aggregate_round(
            round,
            **{name: options[name] for name in ("method", "ties", "seed", "workers")},
            progress=progress,
        )
        update_queue(round)
        if not options["json"]:
            for worker in figures.get("workers", []):
                del worker["confusion"]  # a matrix, for --json
        return figures
