"""import_collection NAME --format F PATH: captions, and pictures if wanted, into a collection."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.importing import import_collection


class Command(ActCommand):
    help = (
        "Import a captioned-image collection: everything in PATH or, if anything is wrong with it, nothing. "
        "Importing the same again changes nothing. Files may be gzipped. Formats: "
        "coco (captions_*.json; captions_train* become the split train); "
        "karpathy (dataset_*.json); "
        "flickr (name.jpg#0<tab>text, or the CSV image| comment_number| comment); "
        "jsonl (an object a line: caption_id or null, image_id, file_name, text, optionally split); "
        "folder (pictures, with captions in captions.csv - columns file_name, text, optionally caption_id and "
        "split - or one a line in a .txt beside each picture)."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the collection: letters, digits, - and _")
        parser.add_argument("path", metavar="PATH", type=Path, help="the caption file, or the folder")
        parser.add_argument("--format", required=True, metavar="FORMAT", help="coco, karpathy, flickr, jsonl or folder")
        parser.add_argument(
            "--images",
            type=Path,
            metavar="DIR",
            help="take the pictures from DIR or its direct subfolders; may be done later, with the same PATH",
        )
        parser.add_argument("--append", action="store_true", help="add to a collection that is there already")
        parser.add_argument(
            "--skip-missing", action="store_true", help="leave images without a file in DIR pictureless"
        )

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        summary = import_collection(
            options["name"],
            format=options["format"],
            path=options["path"],
            images=options["images"] and Path(options["images"]),  # a string where call_command passed it
            append=options["append"],
            skip_missing=options["skip_missing"],
            progress=progress,
        )
        return asdict(summary) if options["json"] else str(summary)
