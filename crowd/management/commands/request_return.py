from typing import Any

from annotation.models import Assignment
from core.commands import ActCommand, argument
from crowd.messages import request_return


class Command(ActCommand):
    step = "crowd"
    help = (
        "Ask a worker through their platform to return work. Returned work is not paid and does not harm their record."
    )
    arguments = (
        argument("assignment", type=int, help="the assignment's number, as its page shows it"),
        argument("--reason", required=True, help="what the worker reads"),
    )

    def act(self, **options: Any) -> str:
        assignment = Assignment.objects.numbered(options["assignment"])
        request_return(assignment, reason=options["reason"], by="request_return")
        return f"The worker of assignment {assignment.pk} was asked to return it."
