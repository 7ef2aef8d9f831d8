"""Sessions on a posting of a whole round: what becomes of the HIT that their visitor was given (``arrivals``) when the
platform lists them as submitted, returned, out of time or decided."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.budget import locked
from annotation.decisions import UNPAID, compensation_of, standing_rejection
from annotation.leases import move
from annotation.models import GONE, LISTED, Assignment, Payment, PlatformState, WorkerIdentity
from annotation.payments import withdraw
from annotation.workers import worker_for
from core.errors import CounterpartError
from core.events import record
from crowd.channels import Listed
from crowd.intake import advance
from crowd.models import Posting

State = Assignment.State

NOBODY_CAME = "The platform lists a submission, but nobody opened a HIT in its session here. Decide whether it is paid."
UNANSWERED = "The platform lists it as submitted, but its answers were not submitted here. Decide whether it is paid."
ENDED = "The platform lists the session as ended and pays no reward for it. Decide: pay it by a bonus, or reject it."
SETTLED = (
    "The platform has screened this session out or paid it in part, and approves it no more. See there what was paid, "
    "and give what is missing as a bonus. Then decide whether the votes count: to pay it adds nothing more."
)
REJECTED_THERE = "It was rejected on the platform itself. Decide: pay it by a bonus, or reject it here as well."
LANDED = (
    "A bonus was given in place of its reward, but the platform lists the session as submitted after all and would pay "
    "the reward too. Ask the worker to return it."
)
LANDED_LATE = "The platform lists the session as submitted after all, and pays its reward if you decide so."
FOREIGN = "The platform lists the session for another worker, and pays nothing for these answers. Reject them, or wait."
UNKNOWN = "The platform does not list the session of these answers, and pays nothing for it. Reject them, or wait."

LISTED_LATE = timedelta(hours=1)  # a list may be out of date
PAID_THERE = (PlatformState.APPROVED, PlatformState.SETTLED)


def keep_sessions(posting: Posting, sessions: Sequence[Listed], *, all_of_them: bool = True) -> int:
    """Keep what the platform lists for the posting; return the number of new submissions. ``all_of_them``: what is not
    among them is not on the platform."""
    new = sum(_keep(posting, listed) for listed in sessions)
    if all_of_them:
        _doubt_unlisted(posting, {listed.external_id for listed in sessions})
    return new


def is_work(listed: Listed) -> bool:
    """Whether a session in which nobody has worked here has to be recorded: it was submitted, but not by somebody who
    declined to take part, unless the platform has paid them all the same."""
    return listed.status in (PAID_THERE if listed.has_declined else LISTED)


@transaction.atomic
def ask_a_person(assignment: Assignment, problem: str) -> bool:
    """Flag work for a person, whatever became of it here, and take back a reward that is owed. False: a person was
    asked the same before or something else just now, or its payment is being made.

    Work that has lost its seat is flagged without one: its votes cannot count.
    """
    if assignment.problem == problem:
        return False
    state = State(assignment.state)
    try:
        withdraw(assignment, actor="sync")
    except CounterpartError:
        return False
    asked: dict[str, Any] = {"problem": problem, "submitted_at": assignment.submitted_at or timezone.now()}
    if state == State.FLAGGED:
        return bool(Assignment.objects.filter(pk=assignment.pk, state=state, problem="").update(**asked))
    if state not in Assignment.HOLDING:
        assignment.seat, asked["seat"] = None, None
    return move(assignment, come_from=state, to=State.FLAGGED, actor="sync", **asked)


@transaction.atomic
def _keep(posting: Posting, listed: Listed) -> int:
    locked(posting.round)
    here = Assignment.objects.filter(**posting.market, external_id=listed.external_id)
    ours = None
    for assignment in here.select_for_update(of=("self",)).select_related("hit__round"):
        if _is_of(assignment, listed.worker_id):
            ours = assignment
        else:
            ask_a_person(assignment, FOREIGN)
    if ours is None:
        return _record_stranger(posting, listed) if is_work(listed) else 0
    has_left = listed.has_declined or listed.status == PlatformState.RETURNED
    if has_left and not is_work(listed) and _drop_stranger(ours):
        return 0
    was = ours.platform_state
    advance(ours, listed)
    ours.refresh_from_db()
    _follow(ours)
    return int(ours.platform_state in LISTED and was not in LISTED)


def _is_of(assignment: Assignment, worker_id: str) -> bool:
    """Whether the session is that worker's; so is one whose worker was forgotten."""
    known = WorkerIdentity.objects.filter(worker=assignment.worker_id, channel=assignment.channel)
    ids = known.values_list("external_id", flat=True)
    return worker_id in ids or not ids


def _record_stranger(posting: Posting, listed: Listed) -> int:
    """Record a submission of somebody who never came here, so that a person decides whether it is paid."""
    worker = worker_for(**posting.market, external_id=listed.worker_id)
    at = listed.submitted_at or timezone.now()
    assignment = Assignment.objects.create(
        **posting.market,
        external_id=listed.external_id,
        external_posting=posting.external_id,
        hit=posting.round.hits.all()[0],
        has_hit=False,
        worker=worker,
        state=State.FLAGGED,
        leased_at=at,
        deadline=at,
        submitted_at=at,
        problem=SETTLED if listed.status == PlatformState.SETTLED else NOBODY_CAME,
    )
    record("flagged", assignment, actor="sync")
    advance(assignment, listed)
    return 1


def _drop_stranger(assignment: Assignment) -> bool:
    """Delete the record of somebody who never came here, as nothing is to be decided any more. False: they did come,
    or a person has decided."""
    strangers = Assignment.objects.filter(has_hit=False, receipt="", decisions=None, rejections=None, payments=None)
    if not strangers.filter(pk=assignment.pk).exists():
        return False
    record("deleted as nobody came", assignment, actor="sync")
    Assignment.objects.filter(pk=assignment.pk).delete()
    return True


def _follow(assignment: Assignment) -> None:
    """Bring our side to where the platform's state leaves it. Nobody who has answered goes unpaid by a rule."""
    there, state = assignment.platform_state, State(assignment.state)
    if there in GONE and state == State.LEASED:
        to = State.RETURNED if there == PlatformState.RETURNED else State.EXPIRED
        move(assignment, come_from=state, to=to, actor="sync")
    elif there in UNPAID and state in Assignment.SUBMITTED and _is_to_be_paid(assignment):
        if there == PlatformState.RETURNED and not (assignment.has_hit and assignment.receipt):
            _let_go(assignment)
        else:
            ask_a_person(assignment, REJECTED_THERE if there == PlatformState.REJECTED else ENDED)
    elif there == PlatformState.SUBMITTED and state in Assignment.SUBMITTED and compensation_of(assignment):
        ask_a_person(assignment, LANDED)
    elif there == PlatformState.SETTLED:
        ask_a_person(assignment, SETTLED)
    elif there in LISTED and state not in Assignment.SUBMITTED:
        ask_a_person(assignment, UNANSWERED)
    elif state == State.FLAGGED:
        _follow_flag(assignment)


def _is_to_be_paid(assignment: Assignment) -> bool:
    """Whether neither its reward nor a bonus in its place has been paid or is owed beside the platform, and nobody has
    rejected it."""
    if compensation_of(assignment) or standing_rejection(assignment):
        return False
    rewards = Payment.objects.filter(assignment=assignment, kind=Payment.Kind.REWARD)
    return not rewards.filter(state=Payment.State.PAID).exists()


def _follow_flag(assignment: Assignment) -> None:
    """Answer a question that the platform has settled meanwhile, so that no person acts on what holds no more."""
    there, problem = assignment.platform_state, assignment.problem
    if there == PlatformState.SUBMITTED and problem == ENDED:
        _take_up(assignment)
    elif there in UNPAID and problem == LANDED:
        _leave_as_decided(assignment)


def _take_up(assignment: Assignment) -> None:
    """Have answers graded that came in a session which the platform lists as submitted after all. Without answers, or
    with a rejection that is proposed, a person decides, who is told how it stands now."""
    state = State.FLAGGED
    if assignment.seat_id and assignment.receipt and not standing_rejection(assignment):
        move(assignment, come_from=state, to=State.SUBMITTED, actor="sync", problem="")
    else:
        Assignment.objects.filter(pk=assignment.pk, state=state).update(problem=LANDED_LATE)


def _leave_as_decided(assignment: Assignment) -> None:
    """Ask nobody any more about a bonus in place of a reward, now that the platform pays no reward beside it."""
    decision = assignment.decisions.last()
    counts = assignment.seat_id is not None and decision is not None and decision.votes_count
    to = State.ACCEPTED if counts else State.EXCLUDED
    move(assignment, come_from=State.FLAGGED, to=to, actor="sync", problem="")


def _let_go(assignment: Assignment) -> None:
    """Whoever returns a session without answers is owed nothing."""
    with suppress(CounterpartError):  # its payment is being made: the next list asks again
        withdraw(assignment, actor="sync")
        move(assignment, come_from=State.FLAGGED, to=State.EXCLUDED, actor="sync")


def _doubt_unlisted(posting: Posting, listed: Collection[str]) -> None:
    """Ask a person about answers of sessions that the platform does not know: their visitors came while it could not be
    asked."""
    answered = posting.work.filter(platform_state=PlatformState.UNCONFIRMED, state__in=Assignment.SUBMITTED)
    old = answered.filter(submitted_at__lt=timezone.now() - LISTED_LATE).exclude(external_id__in=listed)
    for assignment in old.exclude(problem=UNKNOWN).select_related("hit__round"):
        ask_a_person(assignment, UNKNOWN)
