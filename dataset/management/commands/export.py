from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from dataset.exports import FORMATS, export_version
from dataset.exports.specification import LABELS
from dataset.models import Version


class Command(ActCommand):
    step = "version"
    help = "Export a released version, with its card, manifest and checksums."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("version", help="name of the version")
        holds = "; ".join(f"{name}: {one.holds}" for name, one in FORMATS.items())
        parser.add_argument("--format", choices=FORMATS, required=True, help=holds)
        parser.add_argument(
            "--labels",
            choices=LABELS,
            help="what a match is in eccv-json, qrels, mteb and coco: lenient (default): all positives of the version; "
            "strict: those of level 1 and unjudged ones; graded (qrels, mteb): 2 if strict, 1 if lenient, else 0",
        )
        parser.add_argument("--pictures", action="store_true", help="hf: with the pictures, as the column image")
        parser.add_argument("--out", type=Path, required=True, help="folder to write into; created if needed")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        version = Version.objects.named(options["version"])
        chosen = {name: options[name] for name in ("format", "labels", "pictures", "out")}
        return "\n".join(map(str, export_version(version, **chosen, progress=progress)))
