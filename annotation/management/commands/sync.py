"""Bring a round and its platform together."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.syncing import sync_round
from hits.naming import find_round
from journal.commands import ActCommand
from journal.progress import TerminalBar


class Command(ActCommand):
    help = "List what workers submitted on the round's platform, take it in, pay, and ask for what is still missing."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        return sync_round(find_round(options["round"]), progress=progress).as_figures()
