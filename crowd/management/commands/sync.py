"""Sync a round with its platform."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from crowd.outbox import send_waiting
from crowd.sync import sync_round
from hits.models import Round


class Command(ActCommand):
    help = "Sync a round with its platform: store new submissions, pay, and post open seats again."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        send_waiting(round)
        synced = sync_round(round, progress=progress)
        if synced.found_nobody:
            raise CounterpartError(f"Nothing could be read from the platform. {synced.failures[0]}")
        return synced.as_figures()
