"""Make a qualification test."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.models import QualificationTest
from annotation.people.qualification_tests import Plan, make_sentence_test, make_test
from core.commands import ActCommand
from core.errors import CounterpartError
from core.progress import TerminalBar
from core.seeds import add_seed
from core.text import counted
from corpus.models import Collection


class Command(ActCommand):
    help = (
        "Make a test that workers of the browser pool pass before their first HIT: pairs whose answer is known or, "
        "with --sentences, a test of spelling and grammar."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the test's name, for publish --test")
        parser.add_argument("--collection", required=True, help="where its pictures and captions come from")
        parser.add_argument("--positives", type=int, help="pairs that match")
        parser.add_argument("--negatives", type=int, help="pairs that do not")
        parser.add_argument(
            "--sentences",
            type=Path,
            metavar="FILE",
            help="instead of pairs, a CSV with the columns sentence and written (right or wrong)",
        )
        parser.add_argument("--pass-mark", type=int, required=True, help="right answers needed")
        parser.add_argument("--attempts", type=int, default=2, help="tries that one worker has (default: 2)")
        add_seed(parser, "random seed of the draw")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        test = self._made(options)
        of = "sentence" if options["sentences"] else "pair"
        return (
            f"Test {test} has {counted(test.items.count(), of)} of {test.collection}; "
            f"{counted(test.pass_mark, 'right answer passes', 'right answers pass')} it, within "
            f"{counted(test.attempts, 'try', 'tries')}.\nUse it with: publish ROUND --channel browser --test {test}"
        )

    def _made(self, options: dict[str, Any]) -> QualificationTest:
        collection = Collection.objects.named(options["collection"])
        counts = [options[name] for name in ("positives", "negatives")]
        if (None in counts) if options["sentences"] is None else any(one is not None for one in counts):
            raise CounterpartError("Pass either --positives and --negatives, or --sentences.")
        if options["sentences"] is None:
            plan = Plan(*counts, *(options[name] for name in ("pass_mark", "attempts", "seed")))
            return make_test(options["name"], collection=collection, plan=plan, actor="make_test")
        return make_sentence_test(
            options["name"],
            collection=collection,
            file=Path(options["sentences"]),  # call_command passes a string
            pass_mark=options["pass_mark"],
            attempts=options["attempts"],
            actor="make_test",
        )
