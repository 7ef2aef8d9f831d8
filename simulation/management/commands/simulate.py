from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from core.seeds import add_seed
from hits.models import Round
from simulation.simulated_rounds import simulate_round


class Command(ActCommand):
    help = (
        "Let a simulated crowd work on an open round until nobody finds another HIT: in the browser pool, or at the "
        "worker site of a platform's emulator."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="name of the round")
        parser.add_argument("--workers", type=int, default=50, help="number of workers (default 50)")
        parser.add_argument(
            "--profile",
            help="crowd profile: careful (default), paper, rehearsal, participants (defaults on emulators), or a file",
        )
        parser.add_argument(
            "--truth",
            help="match source that they answer from, such as eccv or cxc>=3 (default: truth, else original)",
        )
        parser.add_argument("--through-http", metavar="URL", help="address of the running site whose pages they use")
        parser.add_argument(
            "--among-people", action="store_true", help="simulate in a round in which people took HITs already"
        )
        add_seed(parser)

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        return simulate_round(
            Round.objects.named(options["round"]),
            workers=options["workers"],
            profile=options["profile"],
            truth=options["truth"],
            seed=options["seed"],
            through_http=options["through_http"],
            among_people=options["among_people"],
            progress=progress,
        )
