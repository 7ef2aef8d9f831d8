"""import_matches COLLECTION --source NAME PATH: import matches known from elsewhere."""

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
        "Add the pairs of PATH to the matches of a source in a collection. Every score is kept; thresholds "
        "come later. The format is recognised by content, plain or gzipped: CxC's CSV (caption, image, "
        "agg_score, sampling_method); a CSV with the columns image, caption and optionally score and grade (1-4); or "
        "JSON in one direction, {id: [ids]}, as eccv_image_to_caption.json. Import both directions one after the "
        "other for their union. Existing matches do not change."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("collection", metavar="COLLECTION", help="the collection of the pairs")
        parser.add_argument("path", metavar="PATH", type=Path, help="the file of pairs")
        parser.add_argument("--source", required=True, metavar="NAME", help="name of their source, such as cxc")
        parser.add_argument(
            "--direction",
            default="",
            metavar="i2t|t2i",
            help="whether a JSON file's keys are images (i2t) or captions (t2i); by default recognised by its name, "
            "..._image_to_caption or ..._caption_to_image, or by its ids",
        )
        parser.add_argument("--skip-unknown", action="store_true", help="skip pairs with ids not in the collection")

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
