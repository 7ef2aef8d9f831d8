"""Sessions: apply the platform's list of sessions (submitted, returned, out of time, decided) to our assignments, by
the rules of ``crowd.endings``."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import transaction

from annotation.models import Assignment, Payment, WorkerIdentity
from annotation.money.budget import locked
from annotation.money.payments import withdraw
from annotation.people.workers import worker_for
from annotation.review.decisions import standing_rejection
from annotation.work.leases import move, notify_flagged
from core import clock
from core.errors import CounterpartError
from core.events import record
from crowd.channels.base import Listed
from crowd.endings import FOREIGN, HERE, LANDED_LATE, PASSING, RULES, UNKNOWN, Act, Here, Rule
from crowd.models import Posting, Visit
from crowd.visits.intake import advance

LISTED_LATE = timedelta(hours=1)  # a list may be out of date


def keep_sessions(posting: Posting, sessions: Sequence[Listed], *, all_of_them: bool = True) -> int:
    """Store what the platform lists for the posting; return the number of new submissions. ``all_of_them``: the
    platform has no other sessions."""
    new = sum(_keep(posting, listed) for listed in sessions)
    # A partial list says nothing about the sessions that are not in it.
    if all_of_them:
        _doubt_unlisted(posting, {listed.external_id for listed in sessions})
    return new


def is_work(listed: Listed) -> bool:
    """Whether a session that was never opened here has to be recorded: it was submitted, and its visitor did not
    decline to take part, or was paid by the platform although they declined."""
    return RULES[Visit.State(listed.status)][_without_record(listed)].act is Act.RECORD


@transaction.atomic
def ask_a_person(assignment: Assignment, question: str) -> bool:
    """Flag work for a person, whatever its state here, and withdraw a reward that is owed. False: the same question is
    open already, or one that no list can answer, or the reward is being paid.

    Work that has lost its seat is flagged without one: its votes cannot count.
    """
    if assignment.problem == question:
        return False
    try:
        if Payment.objects.filter(assignment=assignment, kind=Payment.Kind.REWARD, state=Payment.State.OWED).exists():
            withdraw(assignment, actor="sync")
    except CounterpartError:  # its payment is being made: the next list asks again
        return False
    state = Assignment.State(assignment.state)
    asked: dict[str, Any] = {"problem": question, "submitted_at": assignment.submitted_at or clock.now()}
    if state == Assignment.State.FLAGGED:
        flagged = Assignment.objects.filter(pk=assignment.pk, state=state, problem__in=["", *PASSING])
        return bool(flagged.update(**asked))
    # Returned or expired work does not hold its seat any more: another worker may have it by now.
    if state not in Assignment.HOLDING:
        assignment.seat = None
        asked["seat"] = None
    return move(assignment, come_from=state, to=Assignment.State.FLAGGED, actor="sync", **asked)


@transaction.atomic
def _keep(posting: Posting, listed: Listed) -> int:
    """Store what the platform lists about one session; return 1 for a new submission, 0 otherwise."""
    # Lock the round before the work, as deciding and paying do: two processes in different orders would deadlock.
    locked(posting.round)
    of_this_id = Visit.objects.filter(**posting.market, external_id=listed.external_id)
    own = None
    for visit in of_this_id.select_for_update(of=("self", "assignment")).select_related("assignment__hit__round"):
        if _is_of(visit, listed.worker_id):
            own = visit
        elif _here(visit) != Here.PAID:
            ask_a_person(visit.assignment, FOREIGN)
    if own is None:
        return _record_stranger(posting, listed) if is_work(listed) else 0
    was_listed = own.is_listed
    # Advance first: it may mark the reward as paid, which changes the rule that applies.
    advance(own, listed)
    here = _here(own)
    if here == Here.ABSENT:
        here = _without_record(listed)
    _follow(own, here, RULES[Visit.State(own.state)][here])
    return int(own.is_listed and not was_listed)


def _is_of(visit: Visit, worker_id: str) -> bool:
    """Whether the session belongs to that worker. It counts as theirs if its worker was forgotten."""
    known = WorkerIdentity.objects.filter(worker=visit.worker_id, channel=visit.channel)
    ids = known.values_list("external_id", flat=True)
    return worker_id in ids or not ids


def _without_record(listed: Listed) -> Here:
    return Here.DECLINED if listed.has_declined else Here.ABSENT


def _here(visit: Visit) -> Here:
    return Here(Visit.objects.annotate(here=HERE).values_list("here", flat=True).get(pk=visit.pk))


def _record_stranger(posting: Posting, listed: Listed) -> int:
    """Record a submission whose worker never came here, so that a person decides whether it is paid."""
    worker = worker_for(**posting.market, external_id=listed.worker_id)
    at = listed.submitted_at or clock.now()
    assignment = Assignment.objects.create(
        outside_key=listed.external_id,
        hit=posting.round.hits.all()[0],
        has_hit=False,
        worker=worker,
        state=Assignment.State.FLAGGED,
        leased_at=at,
        deadline=at,
        submitted_at=at,
        problem=RULES[Visit.State(listed.status)][_without_record(listed)].question,
    )
    record("flagged", assignment, actor="sync")
    notify_flagged(assignment)
    advance(posting.begin_visit(assignment), listed)
    return 1


def _follow(visit: Visit, here: Here, rule: Rule) -> None:
    """Do what the rule says for a session that the platform lists."""
    assignment = visit.assignment
    if rule.act is Act.FORGET:
        record("deleted as nobody came", assignment, actor="sync")
        Assignment.objects.filter(pk=assignment.pk).delete()
    elif rule.act is Act.FREE_SEAT:
        is_returned = visit.state == Visit.State.RETURNED
        ended = Assignment.State.RETURNED if is_returned else Assignment.State.EXPIRED
        move(assignment, come_from=Assignment.State.LEASED, to=ended, actor="sync")
    elif rule.act is Act.LET_GO:
        with suppress(CounterpartError):  # its payment is being made: the next list asks again
            withdraw(assignment, actor="sync")
            flagged = Assignment.State.FLAGGED
            move(assignment, come_from=flagged, to=Assignment.State.EXCLUDED, actor="sync", problem="")
    elif rule.act in (Act.ASK, Act.RECORD) and not visit.is_unconfirmed:
        ask_a_person(assignment, rule.question)
    elif assignment.state == Assignment.State.FLAGGED and assignment.problem in PASSING:
        _drop_question(visit, here)


def _drop_question(visit: Visit, here: Here) -> None:
    """Remove a question that the platform has settled meanwhile, so that no person decides on outdated facts.

    Paid work keeps its decision, and answers without a standing rejection are graded like any others. Work that cannot
    be graded stays with a person, with the question whether to pay it if the platform lists it as submitted after all.
    """
    assignment = visit.assignment
    flagged = Assignment.State.FLAGGED
    decision = assignment.decisions.filter(undone_at=None).last()
    if here in (Here.BONUS, Here.PAID) and decision:
        counts = assignment.seat_id is not None and decision.votes_count
        to = Assignment.State.ACCEPTED if counts else Assignment.State.EXCLUDED
        move(assignment, come_from=flagged, to=to, actor="sync", problem="")
    elif assignment.seat_id and assignment.receipt and not standing_rejection(assignment):
        move(assignment, come_from=flagged, to=Assignment.State.SUBMITTED, actor="sync", problem="")
    elif visit.is_undecided:
        Assignment.objects.filter(pk=assignment.pk, state=flagged).update(problem=LANDED_LATE)


def _doubt_unlisted(posting: Posting, listed: Collection[str]) -> None:
    """Ask a person about answers of sessions that the platform does not list: their visitors came while it could not be
    reached."""
    unlisted = posting.visits.unconfirmed().exclude(external_id__in=listed)
    answered = unlisted.filter(assignment__state__in=Assignment.SUBMITTED).exclude(assignment__problem=UNKNOWN)
    old = answered.filter(assignment__submitted_at__lt=clock.now() - LISTED_LATE)
    for visit in old.select_related("assignment__hit__round"):
        rule = RULES[Visit.State.UNCONFIRMED][_here(visit)]
        if rule.act is Act.ASK:
            ask_a_person(visit.assignment, rule.question)
