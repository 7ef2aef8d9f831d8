"""pool NAME --collection C --annotators A,B --queries SAMPLE: join top lists into pairs to be judged."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from core.seeds import add_seed
from corpus.models import Collection, Sample
from mitl.models import Annotator, Direction
from mitl.pooling import pool_proposals


class Command(ActCommand):
    help = (
        "Join the top places of the annotators' newest lists into one pool: every pair once, with all annotators that "
        "proposed it, the direction, rank and score. Running it again changes nothing."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="name of the pool: letters, digits, - and _")
        parser.add_argument("--collection", required=True, metavar="C", help="the collection that was searched")
        parser.add_argument("--annotators", required=True, metavar="A,B", help="annotators, separated by commas")
        parser.add_argument("--queries", required=True, metavar="SAMPLE", help="the sample of queries")
        parser.add_argument("--top-k", type=int, default=5, metavar="K", help="places of each list (default 5)")
        parser.add_argument(
            "--control-depth",
            type=int,
            default=25,
            metavar="N",
            help="negative controls are outside this many places of every list (default 25)",
        )
        parser.add_argument(
            "--direction",
            choices=("both", *Direction.values),
            default="both",
            help="i2t: images are queries (default both)",
        )
        add_seed(parser, "only recorded: a pool draws nothing, and pack draws the controls by a seed of its own")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        pool = pool_proposals(
            options["name"],
            collection=Collection.objects.named(options["collection"]),
            annotators=Annotator.objects.all_named(options["annotators"].split(",")),
            sample=Sample.objects.named(options["queries"]),
            top_k=options["top_k"],
            control_depth=options["control_depth"],
            direction=options["direction"],
            seed=options["seed"],
            progress=progress,
        )
        return pool.figures()
