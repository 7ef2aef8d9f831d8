"""Make a qualification test."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.qualification_tests import Plan, make_test
from core.commands import ActCommand
from core.progress import TerminalBar
from core.seeds import add_seed
from core.text import counted
from corpus.models import Collection


class Command(ActCommand):
    help = "Make a test that workers of the browser pool pass before their first HIT: pairs whose answer is known."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the test's name, for publish --test")
        parser.add_argument("--collection", required=True, help="where its pictures and captions come from")
        parser.add_argument("--positives", type=int, required=True, help="pairs that match")
        parser.add_argument("--negatives", type=int, required=True, help="pairs that do not")
        parser.add_argument("--pass-mark", type=int, required=True, help="right answers needed")
        parser.add_argument("--attempts", type=int, default=2, help="tries that one worker has (default: 2)")
        add_seed(parser, "random seed of the draw")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        plan = Plan(**{name: options[name] for name in ("positives", "negatives", "pass_mark", "attempts", "seed")})
        test = make_test(
            options["name"], collection=Collection.objects.named(options["collection"]), plan=plan, actor="make_test"
        )
        return (
            f"Test {test} has {counted(plan.size, 'pair')} of {test.collection}; "
            f"{counted(test.pass_mark, 'right answer passes', 'right answers pass')} it, within "
            f"{counted(test.attempts, 'try', 'tries')}.\nUse it with: publish ROUND --channel browser --test {test}"
        )
