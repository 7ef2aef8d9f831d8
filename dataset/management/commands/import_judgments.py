"""import_judgments ROUND PATH: take judgments that were given elsewhere into a round."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.outside_judgments.judgment_import import import_judgments
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from hits.models import Round


class Command(ActCommand):
    step = "version"
    help = (
        "Take judgments from a file into a round that is not open. Their workers become workers of the channel import. "
        "Formats: judgments-long, as a release exports it; judgments-csv, which names no workers: the first answers of "
        "all pairs become those of one worker, the second those of another, and so on; label-studio (JSON, JSON-MIN, "
        "CSV, TSV); potato (annotated_instances, exports, or the folder of annotations; with --items); argilla "
        "(records as JSON). Files may be gzipped. People of other tools get pseudonyms: their names are not stored."
    )
    figures = True
    parameters = JudgmentParameters

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="name of the round, packed from the same pairs")
        parser.add_argument("path", type=Path, help="the file, or the folder of a Potato project's annotations")
        super().add_arguments(parser)

    def act(self, progress: TerminalBar, *, parameters: JudgmentParameters, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        imported = import_judgments(round, options["path"], wanted=parameters, progress=progress)
        return {name.replace("_", " "): figure for name, figure in asdict(imported).items()}
