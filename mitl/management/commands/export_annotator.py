"""export_annotator NAME FILE [--half]: a trained machine as one file."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from mitl.exporting import export_annotator
from mitl.models import Annotator


class Command(ActCommand):
    help = (
        "Write a machine's weights and settings to one .npz file. Another Counterpart takes it as "
        "add_annotator NAME --kind KIND --checkpoint FILE."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the annotator, as add_annotator named it")
        parser.add_argument("file", type=Path, metavar="FILE", help="the file to write, .npz")
        parser.add_argument("--half", action="store_true", help="floats in 16 bits: half the size, a little less exact")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        annotator = Annotator.objects.all_named([options["name"]])[0]
        size = export_annotator(annotator, options["file"], half=options["half"])
        return f"{annotator}: {size:,} bytes in {options['file']}; kind {annotator.kind}."
