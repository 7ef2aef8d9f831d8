"""Hold a round's books against its rows, and its rows against its platform."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.auditing import check_ledger
from core.commands import ActCommand
from core.progress import TerminalBar
from crowd import channels
from crowd.differences import find_differences, mend
from crowd.outbox import deliver_due
from hits.models import Round


class Command(ActCommand):
    help = "Name everything that a round and its platform see differently, and where its books disagree with its rows."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")
        parser.add_argument("--repair", action="store_true", help="mend what can be mended; without it nothing changes")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        figures: dict[str, Any] = {}
        if round.channel and channels.get(round.channel).is_remote:
            figures = _platform_figures(round, progress, repair=options["repair"])
        return figures | {"books": [{"difference": str(found)} for found in check_ledger(round)]}


def _platform_figures(round: Round, progress: TerminalBar, *, repair: bool) -> dict[str, Any]:
    differences = find_differences(round, progress=progress)
    figures: dict[str, Any] = {"differences": len(differences)}
    if repair:
        figures["mended"] = mend(round, differences, actor="audit")
        deliver_due(round, progress=progress)
    return figures | {"platform": [difference.as_figures() for difference in differences]}
