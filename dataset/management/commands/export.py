from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.exports import FORMATS, export_version
from dataset.naming import find_version


class Command(ActCommand):
    help = "Write a released version into a folder in a format that others read."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("version", help="name of the version")
        parser.add_argument("--format", choices=FORMATS, required=True, help="eccv-json: positives; judgments-csv: raw")
        parser.add_argument("--out", type=Path, required=True, help="folder to write into; made if need be")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        version = find_version(options["version"])
        files = export_version(version, format=options["format"], out=options["out"], progress=progress)
        return "\n".join(map(str, files))
