"""Pay for work of the browser pool that was lost: by an outage, or because another worker was given the HIT."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Assignment, AssignmentQuerySet, Payment
from annotation.money.payments import owe_bonus
from annotation.people.admission import hits_of
from annotation.review.decisions import held
from annotation.work.leases import move, return_assignment
from core.errors import CounterpartError
from core.events import record
from hits.prices import cents

OUTAGE = "An error on our side kept your work from being saved. You are paid for it."
LATE = "Your time for this HIT had run out and another worker had it. Your work is paid all the same."


def pay_for_begun(assignment: Assignment, *, reason: str, by: User) -> Payment:
    """Pay for work of the browser pool that was begun and that an outage of ours kept from being submitted: as much as
    a bonus. It ends. Raises CounterpartError for submitted work and where the worker has the HIT again, CeilingError
    past the round's ceiling."""
    with transaction.atomic():
        return _pay_begun(held(assignment), words=OUTAGE, verb="lost in an outage", reason=reason, by=by)


def pay_for_lateness(assignment: Assignment, *, reason: str, by: User) -> Payment:
    """Pay for a HIT of the browser pool that another worker was given when its time ran out: as much as a bonus. It can
    no longer be submitted. Raises CounterpartError for submitted work and where the worker has the HIT again,
    CeilingError past the round's ceiling."""
    with transaction.atomic():
        return _pay_begun(held(assignment), words=LATE, verb="paid though late", reason=reason, by=by)


def work_again(assignment: Assignment) -> AssignmentQuerySet:
    """Return the worker's other work on the same HIT that they hold, have submitted or are paid for."""
    return hits_of(assignment.worker).filter(hit=assignment.hit_id).exclude(pk=assignment.pk)


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
