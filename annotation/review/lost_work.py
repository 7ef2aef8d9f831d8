"""Pay for work that was lost: by an outage, or because another worker was given the HIT."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Assignment, AssignmentQuerySet, Decision, Payment, PlatformState
from annotation.money.payments import mark_reward_paid, owe, owe_bonus
from annotation.people.admission import hits_of
from annotation.review.decisions import DECIDABLE, for_ruling, held, rule
from annotation.work.leases import move, return_assignment
from core.errors import CounterpartError
from core.events import record
from hits.prices import cents

OUTAGE = "An error on our side kept your work from being saved. You are paid for it."
LATE = "Your time for this HIT had run out and another worker had it. Your work is paid all the same."


def pay_for_outage(assignment: Assignment, *, reason: str, by: User) -> Payment:
    """Pay for work whose answers an outage of ours has lost; nothing is counted, and the seat stays open.

    Work on a platform is paid its reward, provided that the platform lists it and no whole answer set is here. Work in
    the browser pool that was begun and never submitted is paid as much as a bonus, and ends. Repeating changes nothing.
    Raises CounterpartError without a reason and for any other work, CeilingError past the round's ceiling.
    """
    if not reason.strip():
        raise CounterpartError("The reason is missing: say which fault lost the work. The event log keeps it.")
    with transaction.atomic():
        current = held(assignment)
        if current.external_id:
            return _pay_listed(current, reason=reason.strip(), by=by)
        return _pay_begun(current, words=OUTAGE, verb="lost in an outage", reason=reason.strip(), by=by)


def pay_for_lateness(assignment: Assignment, *, reason: str, by: User) -> Payment:
    """Pay for a HIT of the browser pool that another worker was given when its time ran out: as much as a bonus. It can
    no longer be submitted. Raises CounterpartError for submitted work and where the worker has the HIT again,
    CeilingError past the round's ceiling."""
    with transaction.atomic():
        return _pay_begun(held(assignment), words=LATE, verb="paid though late", reason=reason, by=by)


def work_again(assignment: Assignment) -> AssignmentQuerySet:
    """Return the worker's other work on the same HIT that they hold, have submitted or are paid for."""
    return hits_of(assignment.worker).filter(hit=assignment.hit_id).exclude(pk=assignment.pk)


def _pay_listed(assignment: Assignment, *, reason: str, by: User) -> Payment:
    if assignment.platform_state not in (PlatformState.SUBMITTED, PlatformState.APPROVED):
        told = assignment.get_platform_state_display()
        raise CounterpartError(f"{assignment} is {told}; its platform has to list it as submitted.")
    if assignment.is_claim:
        _exclude_lost(assignment, reason=reason, by=by)
    elif paid := Payment.objects.filter(assignment=assignment, state__in=Payment.EARNED).first():
        return paid
    elif not assignment.problem:
        raise CounterpartError(f"The answers of {assignment} are here; decide it on its page.")
    elif assignment.state in DECIDABLE:
        rule(for_ruling(assignment), votes_count=False, paid=True, reason=reason, by=by)
    is_paid = assignment.platform_state == PlatformState.APPROVED
    return mark_reward_paid(assignment) if is_paid else owe(assignment)


def _exclude_lost(assignment: Assignment, *, reason: str, by: User) -> None:
    """Exclude work whose answers are lost, so that it can be paid. Its seat stays open."""
    move(assignment, come_from=Assignment.State.LEASED, to=Assignment.State.EXCLUDED, actor=str(by), problem="")
    Decision.objects.create(assignment=assignment, votes_count=False, paid=True, reason=reason, by=by)
    record("lost in an outage", assignment, actor=str(by), reason=reason)


def _pay_begun(assignment: Assignment, *, words: str, verb: str, reason: str, by: User) -> Payment:
    if assignment.submitted_at is not None:
        raise CounterpartError(f"{assignment} was submitted; decide it on its page, where it can be paid as well.")
    if other := work_again(assignment).first():
        raise CounterpartError(f"The worker of {assignment} has its HIT as {other} too. A HIT is paid once.")
    # It takes no submission any more, as it would be paid twice; an expired lease holds no seat.
    if not return_assignment(assignment, actor=str(by)):
        move(assignment, come_from=Assignment.State.EXPIRED, to=Assignment.State.RETURNED, actor=str(by))
    payment = owe_bonus(assignment, amount=cents(assignment.hit.round.reward), reason=words, actor=str(by))
    record(verb, assignment, actor=str(by), reason=reason)
    return payment
