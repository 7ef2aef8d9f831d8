"""From submission to decision: do the votes count, is the work paid. Two answers, and a person behind every no."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.decisions import for_ruling, rule
from annotation.models import Assignment, Decision
from annotation.rejecting import drop_proposal, reject, standing_rejection
from annotation.reversing import pay_once, reverse
from core.errors import CounterpartError

State = Assignment.State


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
