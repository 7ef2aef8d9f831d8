"""Pause a round on its platform."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from crowd.outbox import deliver_due
from crowd.pauses import pause_round
from hits.models import Round


class Command(ActCommand):
    help = "Let no new visitor come to a round on its platform until resume. A visitor who has a session goes on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        round = Round.objects.named(options["round"])
        posting = pause_round(round, actor="pause")
        deliver_due(round, progress=progress)
        posting.refresh_from_db()
        if posting.paused_at:
            return f"Round {round} is paused: no new visitor comes until resume."
        return f"Round {round} is being paused; the call is tried again until the platform has taken it."
