from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from core.seeds import add_seed
from corpus.input_files import lines
from corpus.models import Collection, Sample
from dataset.aggregation import METHODS, POSITIVE, TIES
from dataset.contents import PRECEDENCES
from dataset.credits import Credits
from dataset.release import release_version
from hits.models import Round

SOURCES = {
    "images": "images for caption queries",
    "captions": "captions for image queries",
    "times_images": "images as a multiple of the original ones",
    "times_captions": "captions as a multiple of the original ones",
}
"""The figures of each source of positives in words."""


class Command(ActCommand):
    help = "Release a version: the positive verdicts of rounds, united with match sources. It never changes again."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("version", help="name of the version, and of the match source that it becomes")
        parser.add_argument("--collection", required=True, help="name of the collection")
        parser.add_argument("--queries", required=True, help="the sample whose queries' positives are released")
        parser.add_argument("--rounds", default="", help="rounds whose judgments are released, separated by commas")
        parser.add_argument("--method", choices=METHODS, default="majority", help="aggregation method")
        parser.add_argument("--ties", choices=TIES, default="median", help="policy for tied levels (default median)")
        add_seed(parser, "seed of methods with random starts")
        parser.add_argument("--merge", help='match sources, as in "cxc>=3,original" (default: original if --rounds)')
        parser.add_argument(
            "--precedence",
            choices=PRECEDENCES,
            default="union",
            help="where people say no and a merged source yes: union keeps the match (default), judged drops it",
        )
        parser.add_argument(
            "--positive-levels",
            default="lenient",
            help="levels that are a match: strict (1), lenient (1,2; the default), or some separated by commas",
        )
        parser.add_argument(
            "--mixed-tasks", action="store_true", help="count votes of different tasks alike, and record it"
        )
        parser.add_argument("--exclude-captions", type=Path, help="file of caption ids to drop, one per line")
        parser.add_argument("--partial", action="store_true", help="release rounds that are unfinished, and record it")
        Credits.add_options(parser)

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        excluded = options["exclude_captions"]
        version = release_version(
            options["version"],
            collection=Collection.objects.named(options["collection"]),
            sample=Sample.objects.named(options["queries"]),
            rounds=[Round.objects.named(name) for name in split(options["rounds"])],
            **{
                name: options[name]
                for name in ("method", "ties", "seed", "merge", "precedence", "partial", "mixed_tasks")
            },
            credits=Credits.from_options(options),
            positive_levels=levels_of(options["positive_levels"]),
            exclude_captions=[line.strip() for _number, line in lines(excluded)] if excluded else (),
            progress=progress,
        )
        sources = version.manifest["sources"]
        if not options["json"]:
            sources = [{SOURCES.get(name, name): figure for name, figure in row.items()} for row in sources]
        return {"version": version.name, **version.manifest["counts"], "sources": sources}


def split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def levels_of(text: str) -> Sequence[int]:
    if text in POSITIVE:
        return POSITIVE[text]
    wrong = [part for part in split(text) if not (part.isascii() and part.isdigit())]
    if wrong:
        raise CounterpartError(f"Invalid level {wrong[0]!r}: write --positive-levels as in 1,2, or strict, or lenient.")
    return [int(part) for part in split(text)]
