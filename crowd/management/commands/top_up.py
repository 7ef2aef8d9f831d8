"""Raise the pay of a round to its wage floor."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.money.wages import pay_shortfall, shortfall_of
from core.commands import ActCommand
from core.progress import TerminalBar
from hits.models import Round


class Command(ActCommand):
    help = (
        "If a round's reward is below its wage floor for the median active time, owe every paid assignment the "
        "difference as a bonus, once."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")
        parser.add_argument("--dry-run", action="store_true", help="only print what it would cost")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        dry = options["dry_run"]
        short = shortfall_of(round) if dry else pay_shortfall(round, actor="top_up", progress=progress)
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
