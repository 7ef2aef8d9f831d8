from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.exports import FORMATS, export_version
from dataset.exports.request import LABELS
from dataset.models import Version


class Command(ActCommand):
    help = "Export a released version, with its card, manifest and checksums."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("version", help="name of the version")
        holds = "; ".join(f"{name}: {format.holds}" for name, format in FORMATS.items())
        parser.add_argument("--format", choices=FORMATS, required=True, help=holds)
        parser.add_argument(
            "--labels",
            choices=LABELS,
            default="lenient",
            help="what a match is, where a format has one number for it: lenient: every positive of the version "
            "(default); strict: those of level 1 and unjudged ones; graded: 2 strict, 1 other positives, 0 the rest",
        )
        parser.add_argument("--out", type=Path, required=True, help="folder to write into; created if needed")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        version = Version.objects.named(options["version"])
        chosen = {name: options[name] for name in ("format", "labels", "out")}
        return "\n".join(map(str, export_version(version, **chosen, progress=progress)))
