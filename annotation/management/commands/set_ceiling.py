from typing import Any

from annotation.money.budget import set_ceiling
from core.commands import argument
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = "Set the most that a round may cost, fees included. Not below what is paid, owed, held or at work."
    arguments = (argument("ceiling", help="US dollars"),)

    def act(self, *, round: Round, **options: Any) -> str:
        round = set_ceiling(round, options["ceiling"], actor="set_ceiling")
        return f"Round {round} may cost ${round.ceiling}."
