from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.releases.release_parameters import AggregateParameters


class Command(ActCommand):
    step = "version"
    help = "Write a verdict on every pair of a round from the judgments that count."

    def act(self, progress: TerminalBar, *, parameters: AggregateParameters, **options: Any) -> dict[str, Any]:
        from dataset.verdicts import aggregate  # slow to import

        figures = aggregate(parameters, progress=progress)
        if not options["json"]:
            for worker in figures.get("workers", []):
                del worker["confusion"]  # a matrix, for --json
        return figures
