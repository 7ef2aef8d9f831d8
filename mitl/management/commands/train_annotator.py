"""train_annotator NAME --collection C [--matches SOURCE] [--loss L] [--seed S]: learn from the training split."""

from typing import Any

from django.core.management.base import CommandParser

from corpus.models import Match
from corpus.naming import find_collection
from journal.commands import ActCommand
from journal.progress import TerminalBar
from mitl.training import train_annotator


class Command(ActCommand):
    help = (
        "Train a machine on a collection's training split (all of it where it has none) and keep the weights. "
        "The same seed gives the same weights; training the same again changes nothing."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the annotator, as add_annotator named it")
        parser.add_argument("--collection", required=True, metavar="C", help="the collection to learn from")
        parser.add_argument(
            "--matches",
            default=Match.ORIGINAL,
            metavar="SOURCE",
            help="whose pairs are the positives; of a source with levels, levels 1 and 2 (default original)",
        )
        parser.add_argument("--loss", default="sum", metavar="LOSS", help="sum, max or semi-hard (default sum)")
        parser.add_argument("--seed", type=int, default=0, metavar="S", help="of weights and order (default 0)")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        annotator = train_annotator(
            options["name"],
            collection=find_collection(options["collection"]),
            matches=options["matches"],
            loss=options["loss"],
            seed=options["seed"],
            progress=progress,
        )
        return {"annotator": annotator.name, "weights": annotator.checksum, **annotator.trained_on}
