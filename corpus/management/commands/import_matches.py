"""import_matches COLLECTION --source NAME PATH: associations known from elsewhere."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.matches import import_matches
from corpus.models import Collection


class Command(ActCommand):
    help = (
        "Add the pairs of PATH to the matches that a source knows in a collection. Every score is kept; thresholds "
        "come later. The kind of file is told by its content, plain or gzipped: CxC's CSV (caption, image, "
        "agg_score, sampling_method); a CSV with the columns image, caption and, if wanted, score and grade (1-4); or "
        "JSON in one direction, {id: [ids]}, as eccv_image_to_caption.json. Import both directions one after the "
        "other for their union. What is there already stays as it is."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("collection", metavar="COLLECTION", help="the collection whose pairs they are")
        parser.add_argument("path", metavar="PATH", type=Path, help="the file of pairs")
        parser.add_argument("--source", required=True, metavar="NAME", help="what to call their source, as cxc")
        parser.add_argument(
            "--direction",
            default="",
            metavar="i2t|t2i",
            help="whether a JSON file's keys are images (i2t) or captions (t2i); by default told by its name, "
            "..._image_to_caption or ..._caption_to_image, or by its ids",
        )
        parser.add_argument("--skip-unknown", action="store_true", help="leave out pairs of ids not in the collection")

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        summary = import_matches(
            Collection.objects.named(options["collection"]),
            source=options["source"],
            path=options["path"],
            direction=options["direction"],
            skip_unknown=options["skip_unknown"],
            progress=progress,
        )
        return asdict(summary) if options["json"] else str(summary)
