from typing import Any

from annotation.money.ledger import accounts_of, earners_of, owed_to_simulated
from annotation.money.wages import timing_of
from core.commands import argument
from crowd.calls.funds import costs_of
from hits.models import Round
from hits.round_commands import RoundCommand

OF_WORKER = ("simulated", "rewards", "bonuses", "base", "extra", "owed", "paid", "fees")


class Command(RoundCommand):
    step = "crowd"
    help = (
        "Show the money of a round: what it may still spend, plans to spend, has set aside with its platform, owes and "
        "has paid, and what each worker has earned."
    )
    arguments = (
        argument(
            "--platform",
            action="store_true",
            help="in place of it: what the round costs by its platform's own calculator, what was spent and is "
            "reserved, and what the account has left",
        ),
    )

    def act(self, *, round: Round, **options: Any) -> dict[str, Any]:
        if options["platform"]:
            return {"round": round.name, **costs_of(round).as_figures()}
        timing = timing_of(round, elapsed=True)
        return {
            "round": round.name,
            "ceiling": round.ceiling,
            **{name: amount for name, _, amount in accounts_of(round) if name != "outside"},
            "owed_to_simulated_workers": owed_to_simulated(round),
            "time": str(timing) if timing else "too few timed, accepted assignments",
            "workers": [
                {"worker": one.pseudonym} | {name: getattr(one, name) for name in OF_WORKER}
                for one in earners_of(round)
            ],
            "payments": round.payments.count(),
        }
