"""Decisions of a person on submitted work: do the votes count, is the work paid. Rejections, and their reversal.

No rule, task or simulated crowd calls anything here; a failed control opens a review and no more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation import platforms
from annotation.models import Appeal, Assignment, AssignmentQuerySet, Decision, Payment, Rejection
from annotation.money.budget import locked
from annotation.money.payments import COMPENSATION, PAID_AS_BONUS, compensation_of, owe, owe_bonus, withdraw
from annotation.platforms import Means, want_call
from annotation.work.judgments import answers_from
from annotation.work.leases import claim, move
from core import clock
from core.errors import CounterpartError, some_of
from core.events import record
from core.text import check_words, trimmed
from hits.models import Round
from hits.prices import cents

Pay = Callable[[Assignment], Payment | None]

DECIDABLE = (Assignment.State.FLAGGED, Assignment.State.ACCEPTED, Assignment.State.EXCLUDED)
LONGEST = {"reason": 1024, "evidence": 10_000}
REVERSED = "The rejection was reversed."


def work_to_review() -> AssignmentQuerySet:
    """Return the flagged work that waits for a decision; without work whose rejection is proposed."""
    proposed = Rejection.objects.filter(assignment=OuterRef("pk"), dropped_at=None)
    return Assignment.objects.filter(~Exists(proposed), state=Assignment.State.FLAGGED)


def held(assignment: Assignment) -> Assignment:
    """Read an assignment with its round, and hold both until the transaction ends. A round is locked before its work
    everywhere, or two processes would wait for each other."""
    locked(assignment.hit.round)
    return Assignment.objects.select_for_update(of=("self",)).select_related("hit__round").get(pk=assignment.pk)


def for_ruling(assignment: Assignment) -> Assignment:
    """Read an assignment that a person may decide, as ``held`` does.

    Raises CounterpartError for one that is not flagged, accepted or excluded.
    """
    current = held(assignment)
    if current.state not in DECIDABLE:
        raise CounterpartError(f"{current} cannot be decided; it has to be flagged, accepted or excluded.")
    return current


def rule(assignment: Assignment, *, votes_count: bool, paid: bool, reason: str, by: User, pay: Pay = owe) -> Decision:
    """Let a decision on an assignment from ``for_ruling`` take effect, in the same transaction.

    Where the work is to be paid, ``pay`` creates the payment: the reward, or a bonus if the platform no longer gives
    a reward for this work.

    Raises CounterpartError for a seat that was given away, and for pay that cannot be given or taken back.
    """
    _settle_votes(assignment, votes_count=votes_count, actor=str(by))
    decision = Decision.objects.create(
        assignment=assignment, votes_count=votes_count, paid=paid, reason=trimmed(reason), by=by
    )
    record("decided", assignment, actor=str(by), decision=decision.pk, votes_count=votes_count, paid=paid)
    if paid:
        pay(assignment)
    else:
        withdraw(assignment, actor=str(by))
    return decision


def _settle_votes(assignment: Assignment, *, votes_count: bool, actor: str) -> None:
    """Bring a flagged, accepted or excluded assignment, and its seat, to where the decision wants them."""
    wanted = Assignment.State.ACCEPTED if votes_count else Assignment.State.EXCLUDED
    state = Assignment.State(assignment.state)
    if state == wanted:
        return
    if votes_count and assignment.seat_id is None:
        raise CounterpartError(f"The votes of {assignment} cannot count, as it holds no seat; keep them excluded.")
    if votes_count and not (assignment.receipt or answers_from([assignment]).exists()):
        raise CounterpartError(f"The votes of {assignment} cannot count, as it has no answers; keep them excluded.")
    if state == Assignment.State.EXCLUDED and not claim(assignment.seat_id):
        raise CounterpartError(
            f"The seat of {assignment} was given to another worker, so its votes cannot count again. "
            "Keep them excluded."
        )
    move(assignment, come_from=state, to=wanted, actor=actor)


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
    """Decide, or change the decision, whether the votes of an assignment count and whether it is paid.

    Votes that do not count open the seat for another worker; they can count again while it is open. Not to pay is a
    rejection, which needs grounds, a reason that the worker reads, and evidence; work that counts is paid. To pay ends
    a rejection that holds or is proposed. None: the rejection waits for a second person, and nothing has changed yet.
    Raises CounterpartError without a reason, for an assignment that is not flagged, accepted or excluded,
    for a seat that was given away, and for pay that cannot be given or taken back. Nothing is changed then.
    """
    if not trimmed(reason):
        raise CounterpartError(f"{assignment} cannot be decided without a reason; say why in a sentence.")
    if not paid:
        if votes_count:
            raise CounterpartError(f"{assignment} cannot count and stay unpaid: pay it, or exclude its votes.")
        rejection = reject(assignment, grounds=grounds, reason=reason, evidence=evidence, by=by)
        assignment.refresh_from_db(fields=["state"])
        return assignment.decisions.last() if rejection.holds else None
    pay = partial(pay_once, actor=str(by))
    with transaction.atomic():
        standing = standing_rejection(assignment)
        if standing and standing.holds:
            decision = reverse(standing, reason=reason, by=by, votes_count=votes_count)
        else:
            if standing:
                drop_proposal(standing, by=by)
            decision = rule(for_ruling(assignment), votes_count=votes_count, paid=True, reason=reason, by=by, pay=pay)
    assignment.refresh_from_db(fields=["state"])
    return decision


@dataclass(frozen=True)
class MassPolicy:
    """When a rejection is one of many, so that a second person has to agree: it is at least the ``earliest``-th
    rejection in force in its round, and makes more than ``share`` of the round's decided work or more than
    ``per_worker`` of one worker's there."""

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
        if standing_rejection(current):
            raise CounterpartError(f"{current} is rejected already, or proposed to be; see its page.")
        _check_rejection(current, words["reason"])
        needs_second = _is_one_of_many(round, current, policy)
        rejection = Rejection.objects.create(assignment=current, by=by, needs_second=needs_second, **words)
        record("rejection proposed", current, actor=str(by), rejection=rejection.pk, grounds=grounds)
        if not needs_second:
            _take_effect(rejection, current)
    return rejection


def second(rejection: Rejection, *, by: User) -> Rejection:
    """Agree to a proposed rejection, which then holds.

    Raises CounterpartError for its proposer, for one that holds or was dropped, and for work that was paid meanwhile.
    """
    if rejection.by_id == by.pk:
        raise CounterpartError(f"You proposed the {rejection}; another person has to agree to it.")
    with transaction.atomic():
        current = for_ruling(rejection.assignment)
        waiting = Rejection.objects.filter(Rejection.PROPOSED, pk=rejection.pk)
        if not waiting.update(seconded_by=by, seconded_at=clock.now()):
            raise CounterpartError(f"The {rejection} does not wait for a second person; reload the page.")
        _check_rejection(current, rejection.reason)
        rejection.refresh_from_db()
        record("rejection seconded", current, actor=str(by), rejection=rejection.pk)
        _take_effect(rejection, current)
    return rejection


def drop_proposal(rejection: Rejection, *, by: User) -> None:
    """Give up a rejection that does not hold yet; the work waits for its decision again.

    Raises CounterpartError for one that holds or was dropped.
    """
    with transaction.atomic():
        waiting = Rejection.objects.filter(Rejection.PROPOSED, pk=rejection.pk)
        if not waiting.update(dropped_at=clock.now()):
            raise CounterpartError(f"The {rejection} is not a proposal any more; reload the page.")
        record("rejection dropped", rejection.assignment, actor=str(by), rejection=rejection.pk)


def standing_rejection(assignment: Assignment) -> Rejection | None:
    """Return the assignment's rejection that holds or is proposed, or None."""
    return assignment.rejections.filter(dropped_at=None).select_related("by", "seconded_by").first()


def _checked(grounds: str, reason: str, evidence: str) -> dict[str, str]:
    """Return the words of a rejection. Raises CounterpartError for what a worker could rightly complain about."""
    if grounds not in Rejection.Grounds.values:
        raise CounterpartError(
            f"{grounds!r} are not valid grounds for a rejection; choose one of: {some_of(Rejection.Grounds.values)}. "
            "A failed control alone is not enough: exclude the votes and pay."
        )
    return {
        "grounds": grounds,
        "reason": check_words(reason, what="reason that the worker reads", at_most=LONGEST["reason"]),
        "evidence": check_words(evidence, what="evidence", at_most=LONGEST["evidence"]),
    }


def _check_rejection(assignment: Assignment, reason: str) -> None:
    if compensation_of(assignment):
        raise CounterpartError(f"{assignment} was paid by a bonus after an earlier rejection; exclude its votes.")
    platforms.postings.check_rejection(assignment, reason)


def _is_one_of_many(round: Round, assignment: Assignment, policy: MassPolicy) -> bool:
    """Whether one more rejection would be one of many. Proposed rejections count too, so that proposals cannot get
    round the rule."""
    standing = Rejection.objects.filter(assignment__hit__round=round, dropped_at=None)
    number = standing.count() + 1
    if number < policy.earliest:
        return False
    holding = Decision.objects.filter(undone_at=None)
    decided = Assignment.objects.filter(hit__round=round, decisions__in=holding).exclude(pk=assignment.pk)
    of_worker = standing.filter(assignment__worker=assignment.worker_id).count() + 1
    return number > policy.share * (decided.distinct().count() + 1) or of_worker > policy.per_worker


def _take_effect(rejection: Rejection, assignment: Assignment) -> None:
    """Exclude the votes of the work, take back what is owed, and have the platform refuse to pay, unless it does."""
    rule(assignment, votes_count=False, paid=False, reason=rejection.reason, by=rejection.by)
    if assignment.hit.round.settles and platforms.postings.is_undecided(assignment):
        want_call(rejection)


def reverse(rejection: Rejection, *, reason: str, by: User, votes_count: bool = False) -> Decision:
    """End a rejection that holds, pay the work, and answer an appeal that waits: the worker was right.

    Raises CounterpartError without a reason, for a rejection that does not hold, and while it is being sent to the
    platform; CeilingError past the round's ceiling. Nothing is changed then.
    """
    if not trimmed(reason):
        raise CounterpartError(f"The {rejection} cannot be reversed without a reason; say why in a sentence.")
    with transaction.atomic():
        current = for_ruling(rejection.assignment)
        rejection.refresh_from_db()
        if not rejection.holds:
            raise CounterpartError(f"The {rejection} does not hold; reload the page.")
        idle = Rejection.objects.filter(pk=rejection.pk, dropped_at=None).exclude(call=Rejection.Call.UNDER_WAY)
        if not idle.update(dropped_at=clock.now(), call=Rejection.Call.NONE):
            raise CounterpartError(f"The {rejection} is being sent to the platform; try again in a minute.")
        record("rejection reversed", current, actor=str(by), rejection=rejection.pk)
        open_appeal = Appeal.objects.filter(rejection=rejection, answered_at=None)
        open_appeal.update(upheld=True, answer=REVERSED, answered_by=by, answered_at=clock.now())
        pay = partial(pay_once, actor=str(by), reason=COMPENSATION)
        return rule(current, votes_count=votes_count, paid=True, reason=reason, by=by, pay=pay)


def pay_once(assignment: Assignment, *, actor: str, reason: str = PAID_AS_BONUS) -> Payment | None:
    """Owe the reward, unless as much was given as a bonus already. Where the platform pays no reward for this work any
    more, owe a bonus for ``reason`` in its place; nothing where it has settled the work in its own way.

    Raises what ``owe``, ``owe_bonus``, ``withdraw`` and ``Postings.means_of_pay`` raise.
    """
    means = platforms.postings.means_of_pay(assignment)
    if means is Means.NOTHING:
        withdraw(assignment, actor=actor)
        return None
    if bonus := compensation_of(assignment):
        return bonus
    if means is Means.REWARD:
        return owe(assignment)
    withdraw(assignment, actor=actor)
    return owe_bonus(assignment, amount=cents(assignment.hit.round.reward), reason=reason, actor=actor)
