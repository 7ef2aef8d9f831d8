"""From submission to decision: do the votes count, is the work paid. Two answers, and a person behind every no."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from annotation.admitting import has_room
from annotation.budget import CeilingError, has_room_for_seat
from annotation.models import Assignment, Decision
from annotation.moving import claim, move
from annotation.paying import owe
from annotation.rejecting import drop_proposal, reject, standing_rejection
from annotation.reversing import pay_once, reverse
from annotation.ruling import for_ruling, rule
from annotation.workers import actor_of, locked
from core.errors import CounterpartError

State = Assignment.State


def mark_submitted(assignment: Assignment, *, active_seconds: int | None) -> str | None:
    """Mark a lease as submitted and return its receipt. None: it was returned, submitted or lost before.

    A lease that ran out may still be submitted while nobody else has the seat: nothing answered is lost
    for being late. The receipt is a signature of the assignment, so it can be checked without this row.
    ``active_seconds`` is None where nobody counted.
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


def decide(
    assignment: Assignment,
    *,
    votes_count: bool,
    paid: bool,
    reason: str,
    by: User,
    grounds: str = "",
    evidence: str = "",
) -> Decision | None:
    """Decide, or decide anew, whether the votes of an assignment count and whether it is paid.

    Votes that do not count open the seat for somebody else; they can count again while nobody has it. Not to pay is a
    rejection (``annotation.rejecting``), which needs grounds, a reason that the worker reads, and evidence; work that
    counts is paid. None: the rejection waits for a second person, and nothing has changed yet.
    Raises CounterpartError without a reason, for an assignment that is not flagged, accepted or excluded,
    for a seat that was given away, and for pay that cannot be given or taken back. Nothing is changed then.
    """
    if not reason.strip():
        raise CounterpartError(f"{assignment} cannot be decided without a reason; say why in a sentence.")
    if not paid:
        if votes_count:
            raise CounterpartError(f"{assignment} cannot count and go unpaid; pay it, or exclude its votes.")
        rejection = reject(assignment, grounds=grounds, reason=reason, evidence=evidence, by=by)
        assignment.refresh_from_db(fields=["state"])
        return assignment.decisions.last() if rejection.holds else None
    with transaction.atomic():
        decision = _decide_to_pay(assignment, votes_count=votes_count, reason=reason, by=by)
    assignment.refresh_from_db(fields=["state"])
    return decision


def _decide_to_pay(assignment: Assignment, *, votes_count: bool, reason: str, by: User) -> Decision:
    """Pay, which ends a rejection that holds and one that is proposed."""
    standing = standing_rejection(assignment)
    if standing and standing.holds:
        return reverse(standing, reason=reason, by=by, votes_count=votes_count)
    if standing:
        drop_proposal(standing, by=by)
    return rule(for_ruling(assignment), votes_count=votes_count, paid=True, reason=reason, by=by, pay=pay_once)


@transaction.atomic
def _accept(assignment: Assignment) -> bool:
    if not move(assignment, come_from=State.SUBMITTED, to=State.ACCEPTED, actor="grading", control_failures=0):
        return False
    Decision.objects.create(assignment=assignment, votes_count=True, paid=True, reason="All controls are right.")
    owe(assignment)
    return True


def _regain(assignment: Assignment) -> bool:
    """Take back the seat of a lease that ran out. False: somebody else has it, the worker has taken the HIT again or as
    many others as one worker may, or the round's ceiling is reached."""
    worker = locked(assignment.worker_id)
    if not Assignment.objects.filter(pk=assignment.pk, state=State.EXPIRED).exists():
        return False
    again, round = worker.assignments.filter(hit=assignment.hit_id), assignment.hit.round
    if again.exclude(state__in=Assignment.ABANDONED).exists() or not has_room(round, worker):
        return False
    return has_room_for_seat(round) and claim(assignment.seat_id)
