"""Our outage pays the worker: work that a platform confirms, or that our pool let somebody begin, and that we lost."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.decisions import DECIDABLE, for_ruling, rule
from annotation.leases import return_assignment
from annotation.ledger import EARNED
from annotation.models import Assignment, Decision, Payment
from annotation.payments import mark_reward_paid, owe, owe_bonus
from core.errors import CounterpartError
from core.events import record
from crowd.models import PlatformAssignment
from hits.models import Seat
from hits.prices import cents

State, Status = Assignment.State, PlatformAssignment.Status

OUTAGE = "A fault of ours kept your work from being saved. It is paid all the same."


def pay_for_outage(work: PlatformAssignment | Assignment, *, reason: str, by: User) -> Payment:
    """Pay for work whose answers a fault of ours has lost; nothing is counted, and the seat stays open.

    A PlatformAssignment is paid its reward, provided that its platform confirms it and no whole answer set is here. An
    Assignment of our own pool that was begun and never submitted is paid as much as a bonus, and ends. Repeating it
    changes nothing. Raises CounterpartError without a reason and for any other work, CeilingError past the round's
    ceiling.
    """
    if not reason.strip():
        raise CounterpartError("Say which fault lost the work; the journal keeps it.")
    with transaction.atomic():
        if isinstance(work, PlatformAssignment):
            return _pay_confirmed(work, reason=reason.strip(), by=by)
        return _pay_begun(work, reason=reason.strip(), by=by)


def _pay_confirmed(turn: PlatformAssignment, *, reason: str, by: User) -> Payment:
    turn = PlatformAssignment.objects.select_for_update().get(pk=turn.pk)
    if turn.status not in (Status.SUBMITTED, Status.APPROVED):
        raise CounterpartError(f"The {turn} is {turn.get_status_display()}; its platform has to list it as submitted.")
    assignment = turn.assignment
    if assignment is None:
        assignment = _stand_in(turn, reason=reason, by=by)
    elif paid := Payment.objects.filter(assignment=assignment, state__in=EARNED).first():
        return paid
    elif not turn.problem:
        raise CounterpartError(f"The answers of {assignment} are here; decide it on its page.")
    elif assignment.state in DECIDABLE:
        rule(for_ruling(assignment), votes_count=False, paid=True, reason=reason, by=by)
    return mark_reward_paid(assignment) if turn.status == Status.APPROVED else owe(assignment)


def _stand_in(turn: PlatformAssignment, *, reason: str, by: User) -> Assignment:
    """Make an excluded assignment for work of which nothing is here; its seat waits for somebody else."""
    assignment = _assignment_without_answers(turn)
    turn.assignment, turn.problem = assignment, ""
    turn.save(update_fields=["assignment", "problem"])
    Decision.objects.create(assignment=assignment, votes_count=False, paid=True, reason=reason, by=by)
    record("lost by us", assignment, actor=str(by), reason=reason)
    return assignment


def _assignment_without_answers(turn: PlatformAssignment) -> Assignment:
    """It holds no seat, but can be paid."""
    submitted_at = turn.submitted_at or timezone.now()
    return Assignment.objects.create(
        seat=Seat.objects.filter(hit=turn.posting.hit_id).earliest("number"),
        hit=turn.posting.hit,
        worker=turn.worker,
        state=Assignment.State.EXCLUDED,
        leased_at=turn.opened_at or submitted_at,
        deadline=submitted_at,
        submitted_at=submitted_at,
        active_seconds=turn.active_seconds,
    )


def _pay_begun(assignment: Assignment, *, reason: str, by: User) -> Payment:
    round = assignment.hit.round
    current = Assignment.objects.select_for_update().get(pk=assignment.pk)
    if round.settles or current.submitted_at is not None:
        raise CounterpartError(f"{assignment} was submitted; decide it on its page, where it can be paid as well.")
    _end(current, actor=str(by))
    payment = owe_bonus(assignment, amount=cents(round.reward), reason=OUTAGE, actor=str(by))
    record("lost by us", assignment, actor=str(by), reason=reason)
    return payment


def _end(assignment: Assignment, *, actor: str) -> None:
    """Let it be handed in no more, as it would be paid twice; a lease that ran out holds its seat no longer."""
    if not return_assignment(assignment, actor=actor):
        Assignment.objects.filter(pk=assignment.pk, state=State.EXPIRED).update(state=State.RETURNED)
