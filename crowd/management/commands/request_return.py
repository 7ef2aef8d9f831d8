from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Assignment
from core.commands import ActCommand
from crowd.messages import request_return


class Command(ActCommand):
    step = "crowd"
    help = (
        "Ask a worker through their platform to return work. Returned work is not paid and does not harm their record."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("assignment", type=int, help="the assignment's number, as its page shows it")
        parser.add_argument("--reason", required=True, help="what the worker reads")

    def act(self, **options: Any) -> str:
        assignment = Assignment.objects.numbered(options["assignment"])
        request_return(assignment, reason=options["reason"], by="request_return")
        return f"The worker of assignment {assignment.pk} was asked to return it."
