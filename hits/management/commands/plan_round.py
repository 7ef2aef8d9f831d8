from typing import Any

from core.commands import ActCommand, argument
from core.progress import TerminalBar
from hits.models import Round
from hits.rounds.packed_rounds import figures_of
from hits.rounds.pipeline import run_pipeline, start_pipeline
from hits.rounds.round_parameters import RoundParameters


class Command(ActCommand):
    step = "round"
    help = (
        "Make a draft of a round in one step: sample queries, retrieve with every annotator, pool and pack. The "
        "results are named ROUND-queries, ROUND-pool and ROUND. After an interruption, the same command resumes."
    )

    arguments = (argument("--background", action="store_true", help="queue it as a job and print the job's id"),)

    def act(self, progress: TerminalBar, *, parameters: RoundParameters, **options: Any) -> dict[str, Any]:
        if options["background"]:
            return {"job": str(start_pipeline(parameters).pk)}
        made = run_pipeline(parameters, actor="command", progress=progress)
        return figures_of(made) if isinstance(made, Round) else made.figures()
