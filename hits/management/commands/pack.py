"""pack ROUND --pool P: make a draft round of HITs from a pool, and show what it holds and costs."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from hits.management.packing import add_packing_options, figures_of, packing_of
from hits.packed_rounds import pack_round
from mitl.naming import find_pool


class Command(ActCommand):
    help = "Pack a pool's pairs into a draft round of HITs with gold controls; nothing is published."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="name of the new round")
        parser.add_argument("--pool", required=True, help="the pool whose pairs are to be judged")
        add_packing_options(parser)

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        pool = find_pool(options["pool"])
        return figures_of(pack_round(options["round"], pool=pool, progress=progress, **packing_of(options)))
