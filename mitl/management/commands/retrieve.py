"""retrieve COLLECTION --annotators A,B [--queries SAMPLE] [--depth 25]: every machine's top lists, as artefacts."""

from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from corpus.naming import find_collection, find_sample
from journal.commands import ActCommand
from journal.progress import TerminalBar
from mitl.models import Retrieval
from mitl.naming import find_annotators
from mitl.retrieval import DEPTH, retrieve
from mitl.searching import ENGINES


class Command(ActCommand):
    help = (
        "Let annotators rank the whole gallery for a sample's images and captions, and keep the top lists. "
        "What was searched already, by the same weights, is not searched again."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("collection", metavar="COLLECTION", help="whose gallery is searched")
        parser.add_argument("--annotators", required=True, metavar="A,B", help="the machines, with commas between")
        parser.add_argument("--queries", metavar="SAMPLE", help="whose queries (default: the whole gallery)")
        parser.add_argument(
            "--depth", type=int, default=DEPTH, metavar="N", help=f"how long the lists are (default {DEPTH})"
        )
        parser.add_argument(
            "--engine", choices=ENGINES, default="blocked", help="blocked: exact, ties in order; faiss: a flat index"
        )
        parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where embeddings are multiplied")

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        started = timezone.now()
        retrievals = retrieve(
            find_collection(options["collection"]),
            annotators=find_annotators(options["annotators"].split(",")),
            sample=find_sample(options["queries"]) if options["queries"] else None,
            depth=options["depth"],
            engine=options["engine"],
            device=options["device"],
            progress=progress,
        )
        if options["json"]:
            return {retrieval.annotator.name: _figures(retrieval, started) for retrieval in retrievals}
        return "\n".join(_line(retrieval, options["depth"], started) for retrieval in retrievals)


def _figures(retrieval: Retrieval, started: datetime) -> dict[str, Any]:
    return {
        "depth": retrieval.depth,
        "engine": retrieval.engine,
        "seconds": round(retrieval.seconds, 3),
        "sha256": retrieval.sha256,
        "kept": retrieval.created_at < started,
    }


def _line(retrieval: Retrieval, asked_depth: int, started: datetime) -> str:
    when = f"kept from {retrieval.created_at:%Y-%m-%d %H:%M}" if retrieval.created_at < started else "searched"
    cut = f", as deep as the gallery allows (of {asked_depth})" if retrieval.depth < asked_depth else ""
    return f"{retrieval}: {when} in {retrieval.seconds:.1f} s, depth {retrieval.depth}{cut}."
