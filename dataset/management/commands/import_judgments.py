from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.outside_judgments import FORMATS
from dataset.outside_judgments.judgment_import import import_judgments
from dataset.outside_judgments.judgment_parameters import JudgmentParameters
from hits.models import Round


class Command(ActCommand):
    step = "version"
    help = (
        "Take judgments from a file, plain or gzipped, into a round that is not open. Their workers become workers of "
        "the channel import, under pseudonyms: names are not stored. Formats:\n"
        + "\n".join(f"- {name}: {says}" for name, says in FORMATS.items())
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="name of the round, packed from the same pairs")
        parser.add_argument("path", type=Path, help="the file, or the folder of a Potato project's annotations")
        super().add_arguments(parser)

    def act(self, progress: TerminalBar, *, parameters: JudgmentParameters, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        imported = import_judgments(round, options["path"], wanted=parameters, progress=progress)
        figures = {name.replace("_", " "): figure for name, figure in asdict(imported).items()}
        return figures if options["json"] else {name: figure for name, figure in figures.items() if figure}
