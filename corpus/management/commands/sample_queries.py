"""sample_queries NAME --collection C --images N|FILE --captions N|FILE: choose the queries of a round."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from core.seeds import add_seed
from core.text import counted
from corpus.models import Collection
from corpus.samples import sample_queries


def count_or_file(argument: str) -> int | Path:
    return int(argument) if argument.lstrip("-").isdecimal() else Path(argument)


class Command(ActCommand):
    help = (
        "Choose a fixed sample of query images and query captions from a collection's gallery (all but the training "
        "splits). Only queries are sampled, never the gallery. Running it again with the same options changes nothing."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the sample: letters, digits, - and _")
        parser.add_argument("--collection", required=True, metavar="C", help="the collection to draw from")
        for things in ("images", "captions"):
            parser.add_argument(
                f"--{things}",
                required=True,
                type=count_or_file,
                metavar="N|FILE",
                help=f"number of {things} to draw, or a file of their ids, one per line",
            )
        parser.add_argument(
            "--uncaptioned",
            action="store_true",
            help="draw images that have no caption, for workers to write some (pack --task caption)",
        )
        add_seed(parser)

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        sample = sample_queries(
            options["name"],
            collection=Collection.objects.named(options["collection"]),
            images=options["images"],
            captions=options["captions"],
            uncaptioned=options["uncaptioned"],
            seed=options["seed"],
        )
        images, captions = sample.images.count(), sample.captions.count()
        if not options["json"]:
            return f"{sample}: {counted(images, 'image')} and {counted(captions, 'caption')} of {sample.collection}."
        return {"sample": sample.name, "images": images, "captions": captions, "seed": sample.seed}
