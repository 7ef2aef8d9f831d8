from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.judgment_import import import_judgments
from hits.models import Round


class Command(ActCommand):
    help = (
        "Take judgments from a file of the form judgments-long or judgments-csv into a round that is not open. Their "
        "workers become workers of the channel import. judgments-csv names no workers: the first answers of all pairs "
        "become those of one worker, the second those of another, and so on."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", help="name of the round, packed from the same pairs")
        parser.add_argument("path", type=Path, help="the file")
        parser.add_argument(
            "--from",
            dest="from_round",
            help="name of the round in the file, if it has several (default: the same name)",
        )

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        imported = import_judgments(round, options["path"], from_round=options["from_round"], progress=progress)
        return {name.replace("_", " "): figure for name, figure in asdict(imported).items()}
