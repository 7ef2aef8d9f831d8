"""Show a round's ledger."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.money.ledger import accounts_of, earners_of, owed_to_simulated
from annotation.money.wages import timing_of
from core.commands import ActCommand
from core.progress import TerminalBar
from hits.models import Round


class Command(ActCommand):
    help = (
        "Show what a round may still spend, plans to spend, has set aside with its platform, owes and has paid, and "
        "what each worker has earned."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="the round's name")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        earners = earners_of(round)
        timing = timing_of(round, elapsed=True)
        return {
            "round": round.name,
            "ceiling": round.ceiling,
            **{name: amount for name, _, amount in accounts_of(round) if name != "outside"},
            "owed_to_simulated_workers": owed_to_simulated(round),
            "time": str(timing) if timing else "too few timed, accepted assignments",
            "workers": [
                {"worker": one.pseudonym, "simulated": one.simulated, "rewards": one.rewards, "bonuses": one.bonuses}
                | {
                    "base": one.base,
                    "extra": one.extra,
                    "owed": one.owed,
                    "paid": one.paid,
                    "fees": one.fees,
                }
                for one in earners
            ],
            "payments": round.payments.count(),
        }
