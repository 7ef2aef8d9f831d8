"""Raise the pay of a round to its wage floor."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.money.wages import pay_shortfall, shortfall_of
from core.progress import TerminalBar
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = (
        "If a round's reward is below its wage floor for the median active time, owe every paid assignment the "
        "difference as a bonus, once."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="only print what it would cost")

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> dict[str, Any]:
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
