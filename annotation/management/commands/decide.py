"""Decide on submitted work."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Assignment, Rejection
from annotation.review.decisions import decide
from core.commands import ActCommand, person_named
from core.progress import TerminalBar


class Command(ActCommand):
    step = "review"
    help = "Decide whether the votes of an assignment count and whether it is paid; not to pay it is a rejection."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("assignment", type=int, help="the assignment's number, as its page shows it")
        parser.add_argument("--votes", choices=["count", "exclude"], required=True, help="whether its votes count")
        parser.add_argument("--pay", choices=["yes", "no"], required=True, help="whether it is paid")
        parser.add_argument("--reason", required=True, help="why; the worker reads it if they are not paid")
        parser.add_argument(
            "--grounds", default="", choices=["", *Rejection.Grounds.values], help="of a rejection; not a control"
        )
        parser.add_argument("--evidence", default="", help="of a rejection: what a second person can check")
        parser.add_argument("--by", required=True, metavar="USER", help="the member of staff who decides")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        work = Assignment.objects.numbered(options["assignment"])
        decision = decide(
            work,
            votes_count=options["votes"] == "count",
            paid=options["pay"] == "yes",
            reason=options["reason"],
            grounds=options["grounds"],
            evidence=options["evidence"],
            by=person_named(options["by"]),
        )
        return f"Assignment {work.pk}: {decision or 'will be rejected if a second person agrees'}."
