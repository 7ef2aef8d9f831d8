from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.cases import update_queue
from dataset.release_parameters import AggregateParameters
from dataset.verdicts import aggregate_round
from hits.models import Round


class Command(ActCommand):
    help = "Write a verdict on every pair of a round from the judgments that count."
    figures = True
    parameters = AggregateParameters

    def act(self, progress: TerminalBar, *, parameters: AggregateParameters, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(parameters.round)
        figures = aggregate_round(
            round,
            method=parameters.method,
            ties=parameters.ties,
            seed=parameters.seed,
            workers=parameters.workers,
            progress=progress,
        )
        update_queue(round)
        if not options["json"]:
            for worker in figures.get("workers", []):
                del worker["confusion"]  # a matrix, for --json
        return figures
