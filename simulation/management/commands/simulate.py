from dataclasses import asdict
from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from hits.models import Round
from simulation.simulate_parameters import SimulateParameters
from simulation.simulated_rounds import simulate_round


class Command(ActCommand):
    help = (
        "Let a simulated crowd work on an open round until no worker finds another HIT: in the browser pool, or at the "
        "worker site of a platform's emulator."
    )
    figures = True
    parameters = SimulateParameters

    def act(self, progress: TerminalBar, *, parameters: SimulateParameters, **options: Any) -> dict[str, Any]:
        chosen = asdict(parameters) | {"round": Round.objects.named(parameters.round)}
        return simulate_round(**chosen, progress=progress)
