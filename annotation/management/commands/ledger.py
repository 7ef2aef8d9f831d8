"""Show a round's ledger."""

from typing import Any

from annotation.money.ledger import accounts_of, earners_of, owed_to_simulated
from annotation.money.wages import timing_of
from core.progress import TerminalBar
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    help = (
        "Show what a round may still spend, plans to spend, has set aside with its platform, owes and has paid, and "
        "what each worker has earned."
    )
    figures = True

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> dict[str, Any]:
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
