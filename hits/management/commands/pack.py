"""pack ROUND --pool P: pack a pool into a draft round and print its counts and cost."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from hits.round_parameters import PackParameters
from hits.rounds import figures_of, pack_round
from mitl.models import Pool


class Command(ActCommand):
    help = "Pack a pool's pairs into a draft round of HITs with gold controls; nothing is published."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="name of the new round")
        parser.add_argument("--pool", required=True, help="pool whose pairs are judged")
        PackParameters.add_options(parser)

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        parameters = PackParameters.from_options(options)
        return figures_of(
            pack_round(options["round"], Pool.objects.named(options["pool"]), parameters, progress=progress)
        )
