"""Pay for work that was lost by a fault of this site."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Assignment
from core.commands import person_named
from core.errors import CounterpartError
from core.progress import TerminalBar
from core.untrusted import whole_number
from crowd.models import Visit
from crowd.visits.intake import pay_for_outage
from hits.models import Round
from hits.round_commands import RoundCommand


class Command(RoundCommand):
    step = "crowd"
    help = "Pay a worker whose answers were lost by a fault of this site. No vote is counted, and the seat stays open."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("work", help="the platform's assignment id; in the browser pool the assignment's number")
        parser.add_argument("--reason", required=True, help="the fault; recorded in the event log")
        parser.add_argument("--by", required=True, metavar="USER", help="the member of staff who decides it")

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> str:
        work = _work(round, options["work"])
        payment = pay_for_outage(work, reason=options["reason"], by=person_named(options["by"]))
        return f"${payment.amount} are {payment.state} to worker {payment.assignment.worker}."


def _work(round: Round, key: str) -> Assignment:
    work = Assignment.objects.filter(hit__round=round)
    begun = work.filter(outside_key="", pk=whole_number(key) or 0)
    listed = work.filter(visit__in=Visit.objects.listed().filter(external_id=key))
    if assignment := listed.first() or begun.first():
        return assignment
    raise CounterpartError(f"Round {round} has no confirmed assignment {key!r}: sync the round first.")
