"""Refuse to pay for work: a named person, one of the platforms' grounds, a reason, evidence; for many, a second person.

Nothing here is ever called by a rule, a task or a simulated crowd; a failed gold control opens a review and no more.
"""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.budget import locked
from annotation.calls import want_call
from annotation.decisions import for_ruling, rule
from annotation.models import Assignment, PlatformState, Rejection
from annotation.reversing import compensation_of
from annotation.wording import check_words
from core.errors import CounterpartError, some_of
from core.events import record
from hits.models import Round

LONGEST = {"reason": 1024, "evidence": 10_000}


@dataclass(frozen=True)
class MassPolicy:
    """When a rejection is one of many, so that a second person has to agree: it is at least the ``earliest``-th that
    stands in its round, and makes more than ``share`` of the round's decided work or more than ``per_worker`` of one
    worker's there."""

    earliest: int = 4
    share: float = 0.05
    per_worker: int = 3


def reject(
    assignment: Assignment,
    *,
    grounds: str,
    reason: str,
    evidence: str,
    by: User,
    policy: MassPolicy = MassPolicy(),  # noqa: B008  frozen
) -> Rejection:
    """Exclude the votes of an assignment and refuse to pay it, or propose that where a second person has to agree.

    Raises CounterpartError for missing or unfit words, grounds that no platform accepts, work that cannot be decided,
    was paid or is being paid, and one that is rejected already. Nothing is changed then.
    """
    words = _checked(grounds, reason, evidence)
    with transaction.atomic():
        round = locked(assignment.hit.round)
        current = for_ruling(assignment)
        _refuse_settled(current)
        needs_second = _is_one_of_many(round, current, policy)
        rejection = Rejection.objects.create(assignment=current, by=by, needs_second=needs_second, **words)
        record("rejection proposed", current, actor=str(by), rejection=rejection.pk, grounds=grounds)
        if not needs_second:
            _take_effect(rejection)
    return rejection


def second(rejection: Rejection, *, by: User) -> Rejection:
    """Agree to a proposed rejection, which then holds.

    Raises CounterpartError for its proposer, and for one that holds or was dropped.
    """
    if rejection.by_id == by.pk:
        raise CounterpartError(f"You proposed the {rejection}; somebody else has to agree to it.")
    with transaction.atomic():
        _check_ready(rejection)
        waiting = Rejection.objects.filter(pk=rejection.pk, needs_second=True, seconded_at=None, dropped_at=None)
        if not waiting.update(seconded_by=by, seconded_at=timezone.now()):
            raise CounterpartError(f"The {rejection} does not wait for anybody; reload the page.")
        rejection.refresh_from_db()
        record("rejection seconded", rejection.assignment, actor=str(by), rejection=rejection.pk)
        _take_effect(rejection)
    return rejection


def drop_proposal(rejection: Rejection, *, by: User) -> None:
    """Give up a rejection that does not hold yet; the work waits for its decision again.

    Raises CounterpartError for one that holds or was dropped.
    """
    with transaction.atomic():
        waiting = Rejection.objects.filter(pk=rejection.pk, needs_second=True, seconded_at=None, dropped_at=None)
        if not waiting.update(dropped_at=timezone.now()):
            raise CounterpartError(f"The {rejection} is no proposal any more; reload the page.")
        record("rejection dropped", rejection.assignment, actor=str(by), rejection=rejection.pk)


def standing_rejection(assignment: Assignment) -> Rejection | None:
    """Return the assignment's rejection that holds or is proposed, or None."""
    return assignment.rejections.filter(dropped_at=None).select_related("by", "seconded_by").first()


def _checked(grounds: str, reason: str, evidence: str) -> dict[str, str]:
    """Return the words of a rejection. Raises CounterpartError for what a worker could rightly complain about."""
    if grounds not in Rejection.Grounds.values:
        raise CounterpartError(
            f"{grounds!r} are no grounds to leave work unpaid; choose one of: {some_of(Rejection.Grounds.values)}. "
            "A failed control alone is none: exclude the votes and pay."
        )
    return {
        "grounds": grounds,
        "reason": check_words(reason, what="reason that the worker reads", at_most=LONGEST["reason"]),
        "evidence": check_words(evidence, what="evidence", at_most=LONGEST["evidence"]),
    }


def _refuse_settled(assignment: Assignment) -> None:
    if standing_rejection(assignment):
        raise CounterpartError(f"{assignment} is rejected already, or proposed to be; see its page.")
    if compensation_of(assignment):
        raise CounterpartError(
            f"{assignment} was paid by a bonus, as an earlier rejection was wrong; exclude its votes."
        )
    approved = Q(platform_state=PlatformState.APPROVED) | Q(auto_approval_at__lte=timezone.now())
    if Assignment.objects.filter(approved, pk=assignment.pk).exists():
        raise CounterpartError(
            f"{assignment} was approved by its platform and is paid; it cannot be rejected any more."
        )


def _is_one_of_many(round: Round, assignment: Assignment, policy: MassPolicy) -> bool:
    """Whether one more rejection would be one of many. What is proposed counts, so that nobody runs ahead."""
    standing = Rejection.objects.filter(assignment__hit__round=round, dropped_at=None)
    number = standing.count() + 1
    if number < policy.earliest:
        return False
    decided = Assignment.objects.filter(hit__round=round, decisions__isnull=False).exclude(pk=assignment.pk)
    of_worker = standing.filter(assignment__worker=assignment.worker_id).count() + 1
    return number > policy.share * (decided.distinct().count() + 1) or of_worker > policy.per_worker


def _check_ready(rejection: Rejection) -> None:
    approved = Assignment.objects.filter(pk=rejection.assignment_id, platform_state=PlatformState.APPROVED)
    if approved.exists():
        raise CounterpartError(f"The platform has paid the work meanwhile; drop the {rejection}.")


def _take_effect(rejection: Rejection) -> None:
    """Exclude the votes, take back what is owed, and have the platform refuse to pay."""
    assignment = for_ruling(rejection.assignment)
    rule(assignment, votes_count=False, paid=False, reason=rejection.reason, by=rejection.by)
    if assignment.hit.round.settles:
        want_call(rejection)
