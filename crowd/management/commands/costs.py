"""Show what a round costs on its platform."""

from typing import Any

from core.progress import TerminalBar
from crowd.calls.funds import costs_of
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = (
        "Show what a round costs by its platform's own calculator, what was spent and is reserved, and what the "
        "account has left. Changes nothing."
    )
    figures = True

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> dict[str, Any]:
        return {"round": round.name, **costs_of(round).as_figures()}
