from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.exports import FORMATS, export_version
from dataset.models import Version


class Command(ActCommand):
    help = "Export a released version in a public format."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("version", help="name of the version")
        parser.add_argument(
            "--format", choices=FORMATS, required=True, help="eccv-json: positives; judgments-csv: raw judgments"
        )
        parser.add_argument("--out", type=Path, required=True, help="folder to write into; created if needed")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        version = Version.objects.named(options["version"])
        files = export_version(version, format=options["format"], out=options["out"], progress=progress)
        return "\n".join(map(str, files))
