from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.models import Sample
from dataset.aggregation import METHODS, TIES
from dataset.conflicts import conflicts_of, merge_counts, preview, send_to_review
from dataset.contents import Policies
from dataset.merging import parse_merge
from hits.models import Round


class Command(ActCommand):
    help = "Count what a merge would bring, and list the pairs that people refuse and a merged source has."
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sample", help="the sample whose queries are released")
        parser.add_argument("--rounds", default="", help="rounds whose votes count, separated by commas")
        parser.add_argument("--merge", default="original", help='match sources, as in "cxc>=3,original"')
        parser.add_argument("--method", choices=METHODS, default="majority", help="aggregation method")
        parser.add_argument("--ties", choices=TIES, default="median", help="policy for tied levels (default median)")
        parser.add_argument("--send", action="store_true", help="put the conflicts into the reviewers' queue")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        sample = Sample.objects.select_related("collection").named(options["sample"])
        rounds = [Round.objects.named(name.strip()) for name in options["rounds"].split(",") if name.strip()]
        policies = Policies(method=options["method"], ties=options["ties"], merge=tuple(parse_merge(options["merge"])))
        contents = preview(sample, rounds=rounds, policies=policies)
        conflicts = conflicts_of(contents)
        figures = merge_counts(contents) | {"listed": [one.as_json() for one in conflicts]}
        return figures | {"sent": send_to_review(sample.collection, conflicts)} if options["send"] else figures
