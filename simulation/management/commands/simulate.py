from dataclasses import asdict
from typing import Annotated, Any

from core.commands import ActCommand
from core.parameters import POSITIONAL, Option, Parameters
from core.progress import TerminalBar
from core.seeds import SeedField
from hits.models import Round


class SimulateParameters(Parameters):
    """Which round a simulated crowd works on, who they are, and what they answer from."""

    round: Annotated[str, "name of the round", POSITIONAL]
    workers: Annotated[int, "number of workers"] = 50
    profile: Annotated[
        str, "crowd profile: careful (default), paper, rehearsal, participants (default on emulators), or a file"
    ] = ""
    truth: Annotated[
        str,
        "match source that they answer from, such as eccv or cxc>=3 (default: truth, else original)",
        Option(metavar="SOURCE"),
    ] = ""
    through_http: Annotated[str, "address of the running site whose pages they use", Option(metavar="URL")] = ""
    among_people: Annotated[bool, "simulate in a round in which people took HITs already"] = False
    seed: Annotated[int, SeedField(help_text="random seed")] = 0


class Command(ActCommand):
    step = "round"
    help = (
        "Let a simulated crowd work on an open round: until no worker finds another HIT in the browser pool, or at "
        "the worker site of a platform's emulator."
    )

    def act(self, progress: TerminalBar, *, parameters: SimulateParameters, **options: Any) -> dict[str, Any]:
        from simulation.simulated_rounds import simulate_round  # slow to import

        chosen = asdict(parameters) | {"round": Round.objects.named(parameters.round)}
        return simulate_round(**chosen, progress=progress)
