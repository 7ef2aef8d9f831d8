"""Show what a round costs on its platform."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from crowd.costs import costs_of
from hits.models import Round


class Command(ActCommand):
    help = (
        "Show what a round costs by its platform's own calculator, what was spent and is reserved, and what the "
        "account has left. Changes nothing."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        return {"round": round.name, **costs_of(round).as_figures()}
