"""The base class of commands about one round."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from hits.models import Round


class RoundCommand(ActCommand):
    """A command about the round that its first argument names; ``act`` gets it as ``round``."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")
        super().add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> str | None:
        found = Round.objects.select_related("pool__collection").named(options.pop("round"))
        return super().handle(*args, round=found, **options)
