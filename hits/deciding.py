"""From submission to decision: do the votes count, is the work paid. Two answers, and a person behind every no."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from hits.budget import CeilingError
from hits.models import Assignment, Decision
from hits.moving import claim, move
from hits.paying import owe, withdraw
from hits.workers import actor_of, locked
from journal.errors import CounterpartError
from journal.events import record

State = Assignment.State

DECIDABLE = (State.FLAGGED, State.ACCEPTED, State.EXCLUDED)


def mark_submitted(assignment: Assignment, *, active_seconds: int) -> str | None:
    """Mark a lease as submitted and return its receipt. None: it was returned, submitted or lost before.

    A lease that ran out may still be submitted while nobody else has the seat: nothing answered is lost
    for being late. The receipt is a signature of the assignment, so it can be checked without this row.
    """
    fields = {"submitted_at": timezone.now(), "active_seconds": active_seconds, "receipt": receipt_of(assignment)}
    actor = actor_of(assignment.worker)
    with transaction.atomic():
        if move(assignment, come_from=State.LEASED, to=State.SUBMITTED, actor=actor, **fields):
            return assignment.receipt
        if _regain(assignment) and move(assignment, come_from=State.EXPIRED, to=State.SUBMITTED, actor=actor, **fields):
            return assignment.receipt
    return None


def receipt_of(assignment: Assignment) -> str:
    """Return the code that proves to us that this assignment was submitted: its number and a signature."""
    return f"{assignment.pk}-{salted_hmac('hits.receipt', str(assignment.pk)).hexdigest()[:10]}"


def accept(assignment: Assignment) -> bool:
    """Accept a submitted assignment whose controls are all right: its votes count and it is owed its reward.

    Where the round's ceiling forbids to pay it, it is flagged for a person instead. False: not accepted.
    """
    try:
        return _accept(assignment)
    except CeilingError:
        flag(assignment, control_failures=0)
        return False


def flag(assignment: Assignment, *, control_failures: int) -> bool:
    """Ask for a human check of a submitted assignment. False: it is not waiting for grading any more."""
    return move(
        assignment, come_from=State.SUBMITTED, to=State.FLAGGED, actor="grading", control_failures=control_failures
    )


def decide(assignment: Assignment, *, votes_count: bool, paid: bool, reason: str, by: User) -> Decision:
    """Decide, or decide anew, whether the votes of an assignment count and whether it is paid.

    Votes that do not count open the seat for somebody else; they can count again while nobody has it.
    Raises CounterpartError without a reason, for an assignment that is not flagged, accepted or excluded,
    for a seat that was given away, and for pay that cannot be given or taken back. Nothing is changed then.
    """
    if not reason.strip():
        raise CounterpartError(f"{assignment} cannot be decided without a reason; say why in a sentence.")
    with transaction.atomic():
        current = Assignment.objects.select_for_update().get(pk=assignment.pk)
        if current.state not in DECIDABLE:
            raise CounterpartError(f"{current} cannot be decided; it has to be flagged, accepted or excluded.")
        _settle_votes(current, votes_count=votes_count, actor=str(by))
        decision = Decision.objects.create(
            assignment=current, votes_count=votes_count, paid=paid, reason=reason.strip(), by=by
        )
        record("decided", current, actor=str(by), decision=decision.pk, votes_count=votes_count, paid=paid)
        if paid:
            owe(current)
        else:
            withdraw(current, actor=str(by))
    assignment.state = current.state
    return decision


@transaction.atomic
def _accept(assignment: Assignment) -> bool:
    if not move(assignment, come_from=State.SUBMITTED, to=State.ACCEPTED, actor="grading", control_failures=0):
        return False
    Decision.objects.create(assignment=assignment, votes_count=True, paid=True, reason="All controls are right.")
    owe(assignment)
    return True


def _settle_votes(assignment: Assignment, *, votes_count: bool, actor: str) -> None:
    """Bring a flagged, accepted or excluded assignment, and its seat, to where the decision wants them."""
    wanted = State.ACCEPTED if votes_count else State.EXCLUDED
    state = State(assignment.state)
    if state == wanted:
        return
    if state == State.EXCLUDED and not claim(assignment.seat_id):
        raise CounterpartError(
            f"The seat of {assignment} was given to somebody else, so its votes cannot count again; keep them excluded."
        )
    move(assignment, come_from=state, to=wanted, actor=actor)


def _regain(assignment: Assignment) -> bool:
    """Take back the seat of a lease that ran out, if nobody has it and the worker did not take the HIT anew."""
    worker = locked(assignment.worker_id)
    if not Assignment.objects.filter(pk=assignment.pk, state=State.EXPIRED).exists():
        return False
    anew = worker.assignments.filter(hit=assignment.hit_id).exclude(state__in=Assignment.ABANDONED)
    return not anew.exists() and claim(assignment.seat_id)
