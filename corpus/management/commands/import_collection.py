"""import_collection NAME --format F PATH: import captions, and optionally pictures, into a collection."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.imports import import_collection


class Command(ActCommand):
    help = (
        "Import a captioned-image collection: all of PATH or, if it contains an error, nothing. "
        "Importing the same again changes nothing. Files may be gzipped. Formats: "
        "coco (captions_*.json; captions_train* get the split train); "
        "karpathy (dataset_*.json); "
        "flickr (name.jpg#0<tab>text, or the CSV image| comment_number| comment); "
        "jsonl (an object per line: caption_id or null, image_id, file_name, text, optionally split; a null caption_id "
        "and a null text: a picture without a caption); "
        "folder (pictures, with captions in captions.csv - columns file_name, text, optionally caption_id and "
        "split - or one per line in a .txt beside each picture, or none). "
        "Pictures without a caption are imported too: workers can write some (pack --task caption)."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the collection: letters, digits, - and _")
        parser.add_argument("path", metavar="PATH", type=Path, help="the caption file, or the folder")
        parser.add_argument("--format", required=True, metavar="FORMAT", help="coco, karpathy, flickr, jsonl or folder")
        parser.add_argument(
            "--images",
            type=Path,
            metavar="DIR",
            help="import the pictures from DIR or its direct subfolders; also possible later, with the same PATH",
        )
        parser.add_argument(
            "--append", action="store_true", help="add new captions and images to an existing collection"
        )
        parser.add_argument("--skip-missing", action="store_true", help="accept images that have no file in DIR")

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        summary = import_collection(
            options["name"],
            format=options["format"],
            path=options["path"],
            images=options["images"] and Path(options["images"]),  # call_command passes a string
            append=options["append"],
            skip_missing=options["skip_missing"],
            progress=progress,
        )
        return asdict(summary) if options["json"] else str(summary)
