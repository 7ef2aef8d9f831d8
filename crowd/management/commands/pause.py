"""Pause a round."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from crowd.outbox import deliver_due
from crowd.pauses import pause_round, posting_of_whole
from hits.models import Round


class Command(ActCommand):
    help = "Give nobody new a HIT of a round until resume. Whoever has one, or a session of a platform, goes on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        round = pause_round(Round.objects.named(options["round"]), actor="pause")
        deliver_due(round, progress=progress)
        posting = posting_of_whole(round)
        if posting and not posting.paused_at:
            return f"Round {round} is being paused; the call is tried again until the platform has taken it."
        return f"Round {round} is paused: nobody new is given a HIT until resume."
