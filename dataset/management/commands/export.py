from argparse import SUPPRESS
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.work.written_captions import write_captions
from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from dataset.exports import FORMATS, export_version
from dataset.exports.specification import LABELS
from dataset.models import Version
from hits.models import Round

CAPTIONS = "captions"


class Command(ActCommand):
    step = "version"
    help = (
        "Export a released version, with its card, manifest and checksums; or the accepted captions of a round (pack "
        "--task caption), for import_collection --format jsonl. These name no worker."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("version", help="name of the version; of the round, for captions")
        holds = "; ".join(f"{name}: {one.holds}" for name, one in FORMATS.items())
        parser.add_argument(
            "--format",
            choices=[*FORMATS, CAPTIONS],
            required=True,
            help=f"{holds}; {CAPTIONS}: an object a line in one file; .gz compresses it",
        )
        parser.add_argument(
            "--labels",
            choices=LABELS,
            help="what a match is in eccv-json, qrels, mteb and coco: lenient (default): all positives of the version; "
            "strict: those of level 1 and unjudged ones; graded (qrels, mteb): 2 if strict, 1 if lenient, else 0",
        )
        parser.add_argument("--pictures", action="store_true", help="hf: with the pictures, as the column image")
        out = parser.add_mutually_exclusive_group(required=True)
        out.add_argument("--out", type=Path, help="folder to write into, created if needed; for captions the file")
        out.add_argument("file", nargs="?", type=Path, help=SUPPRESS)  # as of export_captions, an old name

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        chosen = {name: options[name] for name in ("format", "labels", "pictures")}
        out = Path(options["out"] or options["file"])  # call_command passes a string
        if options["format"] == CAPTIONS:
            if options["labels"] or options["pictures"]:
                raise CounterpartError("Captions have no labels and no pictures: leave out --labels and --pictures.")
            return write_captions(Round.objects.named(options["version"]), out)
        version = Version.objects.named(options["version"])
        files = [str(path) for path in export_version(version, **chosen, out=out, progress=progress)]
        return {"version": version.name, "files": files} if options["json"] else "\n".join(files)
