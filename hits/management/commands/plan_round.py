"""plan_round ROUND: sample queries, retrieve, pool and pack, here with a bar or as a job in the background."""

from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from hits.management.packing import add_packing_options, figures_of, packing_of
from hits.ordering import RoundOrder
from hits.pipeline import run_pipeline, start_pipeline
from hits.terms import Terms
from mitl.cascading import CASCADE_DEPTH
from mitl.models import Direction
from mitl.search.quick import ENGINES


class Command(ActCommand):
    help = (
        "Plan a round in one go: sample queries, retrieve with every annotator, pool and pack. What is made is named "
        "ROUND-queries, ROUND-pool and ROUND. Stopped half-way, the same command goes on where it was."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", metavar="ROUND", help="the new round: letters, digits, - and _")
        parser.add_argument("--collection", required=True, metavar="C", help="the collection to search")
        parser.add_argument("--annotators", required=True, metavar="A,B", help="the machines, with commas between")
        parser.add_argument("--queries", default="", metavar="SAMPLE", help="a sample there is, instead of drawing one")
        parser.add_argument("--images", type=int, default=0, metavar="N", help="query images to draw (0)")
        parser.add_argument("--captions", type=int, default=0, metavar="N", help="query captions to draw (0)")
        parser.add_argument("--top-k", type=int, default=5, metavar="K", help="places of each list to pool (5)")
        parser.add_argument(
            "--control-depth", type=int, default=25, metavar="D", help="negative controls stand outside the top D (25)"
        )
        parser.add_argument("--direction", choices=("both", *Direction.values), default="both", help="lists to pool")
        parser.add_argument("--engine", choices=ENGINES, default="blocked", help="how embeddings are searched")
        parser.add_argument(
            "--cascade", default="", metavar="A", help="cross-encoders score only the first places of A's lists"
        )
        parser.add_argument(
            "--cascade-depth", type=int, default=CASCADE_DEPTH, metavar="N", help=f"so many ({CASCADE_DEPTH})"
        )
        parser.add_argument(
            "--rerank", default="", metavar="STEPS", help="keep hubs out of all lists: csls, csls,rgm (see retrieve)"
        )
        add_packing_options(parser)
        parser.add_argument("--background", action="store_true", help="queue it as a job and print the job's id")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        order = _order(options)
        if options["background"]:
            return {"job": str(start_pipeline(order.as_json()).pk)}
        return figures_of(run_pipeline(order, progress=progress))


def _order(options: dict[str, Any]) -> RoundOrder:
    same = ["round", "collection", "images", "captions", "top_k", "control_depth", "direction", "engine"]
    same += ["cascade", "cascade_depth", "rerank"]
    packing = packing_of(options)
    return RoundOrder(
        **{name: options[name] for name in same},
        annotators=options["annotators"].split(","),
        sample=options["queries"],
        **{name: packing.pop(name) for name in ("design", "sharing", "seed")},
        terms=Terms(**packing),
    )
