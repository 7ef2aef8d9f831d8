"""Make up for rewards that turned out too low."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.wages import shortfall_of, top_up
from core.commands import ActCommand
from core.progress import TerminalBar
from hits.models import Round


class Command(ActCommand):
    help = (
        "Where a round's median active time is worth more than its reward, owe every paid assignment the rest as a "
        "bonus, once."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")
        parser.add_argument("--dry-run", action="store_true", help="only say what it would take")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round, dry = Round.objects.named(options["round"]), options["dry_run"]
        short = shortfall_of(round) if dry else top_up(round, actor="top_up", progress=progress)
        return {
            "round": round.name,
            "time": str(short.timing),
            "floor": f"{round.wage_floor} an hour",
            "reward": str(round.reward),
            "fair": str(short.fair),
            "bonus": str(short.bonus),
            "would_owe" if dry else "owed": short.assignments,
            "total": str(short.total),
        }
