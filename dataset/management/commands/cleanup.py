from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.models import Collection
from dataset.reviews.cleanup import suggest_clean_up


class Command(ActCommand):
    step = "review"
    help = (
        "Look for meaningless captions, suspicious originals and repeated pictures, put them into the reviewers' "
        "queue, and print its counts. Nothing is excluded."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("collection", help="name of the collection")
        parser.add_argument("--against", type=Path, metavar="FOLDER", help="also compare with the pictures of a folder")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        collection = Collection.objects.named(options["collection"])
        counts: dict[str, Any] = suggest_clean_up(collection, against=options["against"], progress=progress)
        return counts
