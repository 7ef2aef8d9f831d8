from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from corpus.models import Collection, Sample
from dataset.positives import source_table
from dataset.release import release_version
from hits.models import Round


class Command(ActCommand):
    help = "Release a version: the positive verdicts of rounds, united with match sources. It never changes again."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("version", help="name of the version; it becomes a match source of this name too")
        parser.add_argument("--collection", required=True, help="the collection it is about")
        parser.add_argument("--queries", required=True, help="the sample whose queries' positives are released")
        parser.add_argument("--rounds", default="", help="aggregated rounds, separated by commas")
        parser.add_argument(
            "--merge", help='match sources, as "cxc>=3,original"; default: original where rounds are named'
        )
        parser.add_argument("--positive-levels", default="1,2", help="levels that are a match, separated by commas")
        parser.add_argument(
            "--exclude-captions", type=Path, help="file of caption ids, one a line, that are dropped everywhere"
        )

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        version = release_version(
            options["version"],
            collection=Collection.objects.named(options["collection"]),
            sample=Sample.objects.named(options["queries"]),
            rounds=[Round.objects.named(name) for name in split(options["rounds"])],
            merge=options["merge"],
            positive_levels=[level_of(text) for text in split(options["positive_levels"])],
            exclude_captions=ids_in(options["exclude_captions"]) if options["exclude_captions"] else (),
            progress=progress,
        )
        return {"version": version.name, **version.manifest["counts"], "sources": source_table(version)}


def split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def level_of(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise CounterpartError(f"{text!r} is no level; write --positive-levels as in 1,2.")
    return int(text)


def ids_in(path: Path) -> list[str]:
    """Read an id a line; empty lines are passed over."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CounterpartError(f"Cannot read {path}: {error}.") from error
    return [line.strip() for line in lines if line.strip()]
