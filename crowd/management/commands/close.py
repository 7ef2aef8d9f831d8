"""Close a round."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Assignment
from annotation.work.standing import standing_of
from core.commands import ActCommand
from core.progress import TerminalBar
from crowd.publication import close_round
from hits.models import Round


class Command(ActCommand):
    help = "Close a round: no seat is leased any more, but leased ones may still be submitted."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        round = close_round(Round.objects.named(options["round"]), actor="close")
        standing = standing_of(round)
        still = standing.work[Assignment.State.LEASED]
        return (
            f"Round {round} is closed with {standing.filled} of {standing.wanted} seats filled; {still} still leased."
        )
