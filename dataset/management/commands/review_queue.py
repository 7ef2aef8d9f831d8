from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from dataset.cases import check_queue, refresh_queue
from hits.models import Round


class Command(ActCommand):
    help = (
        "Bring the reviewers' queue of a round's collection up to date and print its counts. Fails if a pair of the "
        "round without a majority is missing from the queue."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="name of the round")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.select_related("pool__collection").named(options["round"])
        counts = refresh_queue(round.pool.collection)
        if not check_queue(round):
            raise CounterpartError(
                f"The queue does not show every pair of {round} without a majority. Do not rely on it; report this "
                "with the round's events."
            )
        return counts
