"""Pay for work whose answers were lost by a fault of this site."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Assignment, Decision, Payment
from annotation.money.payments import mark_reward_paid, owe
from annotation.review.appeals import pay_for_begun
from annotation.review.decisions import DECIDABLE, for_ruling, held, rule
from annotation.work.leases import move
from core.errors import CounterpartError
from core.events import record
from core.text import trimmed
from crowd.models import Visit


def pay_for_outage(assignment: Assignment, *, reason: str, by: User) -> Payment:
    """Pay for work whose answers an outage of ours has lost; no vote is counted, and the seat stays open.

    Work on a platform is paid its reward if the platform lists it and its answers are incomplete here. Unsubmitted work
    in the browser pool is ended and paid the same amount as a bonus. Repeating changes nothing.
    Raises CounterpartError without a reason and for any other work, CeilingError past the round's ceiling.
    """
    reason = trimmed(reason)
    if not reason:
        raise CounterpartError("The reason is missing: state which fault lost the work. The event log keeps it.")
    visit = Visit.objects.filter(assignment=assignment).first()
    if visit is None:
        return pay_for_begun(assignment, reason=reason, by=by)
    return _pay_listed(visit, reason=reason, by=by)


@transaction.atomic
def _pay_listed(visit: Visit, *, reason: str, by: User) -> Payment:
    assignment = held(visit.assignment)
    visit.refresh_from_db()
    if not (visit.is_undecided or visit.is_approved):
        there = visit.get_state_display()
        raise CounterpartError(f"{assignment} is {there} on its platform: only submitted work can be paid.")
    if assignment.is_claim:
        # Excluded, it can be paid; its seat stays open.
        move(assignment, come_from=Assignment.State.LEASED, to=Assignment.State.EXCLUDED, actor=str(by), problem="")
        Decision.objects.create(assignment=assignment, votes_count=False, paid=True, reason=reason, by=by)
        record("lost in an outage", assignment, actor=str(by), reason=reason)
    elif paid := Payment.objects.filter(assignment=assignment, state__in=Payment.EARNED).first():
        return paid
    elif not assignment.problem:
        raise CounterpartError(f"The answers of {assignment} are here; decide it on its page.")
    elif assignment.state in DECIDABLE:
        rule(for_ruling(assignment), votes_count=False, paid=True, reason=reason, by=by)
    return mark_reward_paid(assignment) if visit.is_approved else owe(assignment)
