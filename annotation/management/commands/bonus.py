"""Give a worker a bonus."""

from typing import Any

from annotation.models import Assignment
from annotation.money.payments import BonusParameters, owe_bonus
from core.commands import ActCommand, person_named
from core.progress import TerminalBar


class Command(ActCommand):
    step = "crowd"
    help = "Give the worker of an assignment a bonus; the same reason again gives no second one."
    parameters = BonusParameters

    def act(self, progress: TerminalBar, *, parameters: BonusParameters, **options: Any) -> str:
        work = Assignment.objects.numbered(parameters.assignment)
        by = str(person_named(parameters.by))
        payment = owe_bonus(work, amount=parameters.amount, reason=parameters.reason, actor=by)
        return f"${payment.amount} are {payment.state} to worker {work.worker} as a bonus."
