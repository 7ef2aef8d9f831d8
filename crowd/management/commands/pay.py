from pathlib import Path
from typing import Any

from annotation.models import Assignment
from annotation.money.payments import BonusParameters, owe_bonus
from annotation.money.payroll import mark_wages, wages_of, write_wages
from annotation.money.wages import pay_shortfall, shortfall_of
from core.command_groups import CommandGroup
from core.commands import ActCommand, argument, person_named
from core.errors import CounterpartError
from core.progress import TerminalBar
from core.text import counted
from core.untrusted import whole_number
from crowd.models import Visit
from crowd.visits.intake import pay_for_outage
from hits.models import Round
from hits.round_commands import RoundCommand


class Bonus(ActCommand):
    help = "Give the worker of an assignment a bonus; the same reason again gives no second one."

    def act(self, *, parameters: BonusParameters, **options: Any) -> str:
        work = Assignment.objects.numbered(parameters.assignment)
        by = str(person_named(parameters.by))
        payment = owe_bonus(work, amount=parameters.amount, reason=parameters.reason, actor=by)
        return f"${payment.amount} are {payment.state} to worker {work.worker} as a bonus."


class Floor(RoundCommand):
    help = (
        "If a round's reward is below its wage floor for the median active time, owe every paid assignment the "
        "difference as a bonus, once."
    )
    arguments = (argument("--dry-run", action="store_true", help="only print what it would cost"),)

    def act(self, progress: TerminalBar, *, round: Round, **options: Any) -> dict[str, Any]:
        dry = options["dry_run"]
        short = shortfall_of(round) if dry else pay_shortfall(round, actor="pay floor", progress=progress)
        return {
            "round": round.name,
            "time": str(short.timing),
            "floor": f"{round.wage_floor} an hour",
            "reward": str(round.reward),
            "fair": str(short.fair),
            "bonus": str(short.bonus),
            "would_owe" if dry else "owed": short.assignments,
            "total": str(short.total),
        }


class Outage(RoundCommand):
    help = "Pay a worker whose answers were lost by a fault of this site. No vote is counted, and the seat stays open."
    arguments = (
        argument("work", help="the platform's assignment id; in the browser pool the assignment's number"),
        argument("--reason", required=True, help="the fault; recorded in the event log"),
        argument("--by", required=True, metavar="USER", help="the member of staff who decides it"),
    )

    def act(self, *, round: Round, **options: Any) -> str:
        key = options["work"]
        work = Assignment.objects.filter(hit__round=round)
        listed = work.filter(visit__in=Visit.objects.listed().filter(external_id=key))
        lost = listed.first() or work.filter(outside_key="", pk=whole_number(key) or 0).first()
        if lost is None:
            raise CounterpartError(f"Round {round} has no confirmed assignment {key!r}: sync the round first.")
        payment = pay_for_outage(lost, reason=options["reason"], by=person_named(options["by"]))
        return f"${payment.amount} are {payment.state} to worker {payment.assignment.worker}."


class List(RoundCommand):
    help = (
        "Write the list of workers whom a round owes money, without simulated ones, to pay from. Give it back to "
        "pay mark afterwards."
    )
    arguments = (argument("--csv", type=Path, required=True, help="the file to write; it must not exist"),)

    def act(self, *, round: Round, **options: Any) -> str:
        path = options["csv"]
        wages = wages_of(round)
        listed = write_wages(round)
        if not wages:
            return f"Round {round} owes people nothing; no file was written."
        try:
            with path.open("x", newline="", encoding="utf-8") as file:
                file.write(listed)
        except OSError as error:
            raise CounterpartError(f"{path} cannot be written ({error.strerror}); choose another --csv.") from error
        total = sum(wage.amount for wage in wages)
        owed = f"{counted(len(wages), 'worker is', 'workers are')} owed ${total:,} in all."
        return f"{path}: {owed}\nOnce paid: pay mark {round} --csv {path}"


class Mark(RoundCommand):
    help = "Mark all payments of a list from pay list as paid. First remove the rows of workers who were not paid."
    arguments = (argument("--csv", type=Path, required=True, help="the list, as pay list wrote it"),)

    def act(self, *, round: Round, **options: Any) -> str:
        marked = mark_wages(round, options["csv"], actor="pay mark")
        before = f" {marked.before} were marked before." if marked.before else ""
        paid = counted(marked.payments, "payment")
        return f"Marked {paid} of round {round}, ${marked.amount:,} in all, as paid.{before}"


class Command(CommandGroup):
    step = "crowd"
    help = "Pay a bonus, up to the wage floor, or for work lost by an outage; list who is owed, and mark it as paid."
    acts = {"bonus": Bonus, "floor": Floor, "outage": Outage, "list": List, "mark": Mark}
