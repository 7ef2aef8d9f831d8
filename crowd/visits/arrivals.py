"""Arrivals: a platform's visitor becomes a worker with an assignment, or reads why that is not possible.

A visitor's claims count for nothing until the platform confirms them. A visitor who came for a single HIT claims it
(``claims``); where the platform lists a whole round, visitors come with a session and get a HIT from the allocator of
the browser pool.
"""

import logging
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotation.judging.links import Trouble
from annotation.models import Assignment, ConsentSheet, Decision, Worker
from annotation.money.budget import CeilingError
from annotation.money.payments import owe
from annotation.people.admission import permit_of
from annotation.people.consent import give_consent
from annotation.people.workers import actor_of, locked
from annotation.work.leases import lease_for_visitor, move
from core import clock
from core.events import record
from crowd import channels
from crowd.channels.base import Arrival, ChannelError, Outcome
from crowd.models import Posting, Visit, VisitQuerySet
from hits.models import Round

logger = logging.getLogger(__name__)

TWO_PEOPLE = "Two workers have come with this session. Check which of them it is before anything is paid."
SESSION_LIFE = timedelta(days=1)  # how long the address of a session is valid
NO_ANSWER = (
    "The platform did not confirm your session, and we have been notified. Reload this page in a few minutes. If that "
    "does not help, return the study: that costs you nothing."
)
RETURN_IT = "Please return this HIT: that costs you nothing, and your earlier work is paid as decided."
BEING_CHECKED = "A person reads your last HITs. You can take the next one as soon as one of them is checked."
NOTHING_LEFT = "No HIT was left for this person, who is paid for coming."


def posting_of(arrival: Arrival, *, channel: str, environment: str) -> Posting:
    """Return the posting that the visitor came for.

    Raises Trouble for an unknown posting, and for one of a closed round that can take no submission.
    """
    known = Posting.objects.filter(channel=channel, environment=environment, external_id=arrival.posting_id)
    posting = known.exclude(external_id="").select_related("hit__round__pool", "round__pool").first()
    if posting is None:
        raise Trouble(
            "We do not know this HIT",
            "If it was posted just now, reload the page in a minute. Otherwise return it: that costs you nothing.",
            status=404,
        )
    if posting.hit and _is_over(posting, arrival):
        raise Trouble(
            "This round is closed",
            "All answers are in. If you have accepted this HIT, return it: that costs you nothing. Thank you.",
            status=410,
        )
    return posting


def assignment_of_session(posting: Posting, session_id: str, worker: Worker) -> Assignment | None:
    """Return the assignment that the worker got earlier in this session, if any."""
    visits = _of_session(posting, session_id).filter(worker=worker)
    return Assignment.objects.filter(visit__in=visits).select_related("hit__round", "worker", "visit").first()


def begin_session(posting: Posting, arrival: Arrival, worker: Worker, *, sheet: ConsentSheet) -> Assignment:
    """Record the worker's consent to the sheet and return the session's assignment: the existing one, or a new HIT. If
    no HIT is left for them, they get an assignment without a seat, which is paid for coming.

    A session is also admitted while the platform cannot be reached: its payment waits for the platform's list anyway.
    Raises NotAgreedError if the round's sheet has changed meanwhile, Trouble for a session that the platform denies or
    has given to another worker, for an excluded or paused worker, and while the platform refuses to answer us.
    """
    platform = channels.session_platform(posting.channel)
    session_id = arrival.assignment_id
    # Before the transaction: no lock is held while the platform answers.
    try:
        is_confirmed = platform.confirm(posting, arrival)
    except ChannelError as error:
        if not error.permanent:
            logger.error("no visitor is let in to %s, as the platform refuses our question: %s", posting, error)
            raise Trouble("We cannot check your session now", NO_ANSWER, status=503) from error
        raise Trouble("The platform does not know this session", str(error), status=403) from error
    # Asked of confirmed visitors too: one of the two came with a session that is not theirs.
    if _doubt_others(posting, session_id, worker) and not is_confirmed:
        raise not_theirs()
    with transaction.atomic():
        locked(worker.pk)
        if existing := assignment_of_session(posting, session_id, worker):
            return existing
        refuse_shut_out(worker, posting.round)
        # Not earlier: a visitor may claim another worker's id, which the platform denies above.
        give_consent(worker, posting.round, sheet=sheet)
        time = platform.longest_session(posting)
        assignment = lease_for_visitor(posting.round, worker=worker, time=time, outside_key=session_id)
        outcome = Outcome.DONE if assignment else Outcome.NO_WORK
        url, fields = platform.finish(posting, outcome)
        finish = {"finish_url": url, "finish_fields": dict(fields)}
        if assignment:
            posting.begin_visit(assignment, **finish)
        else:
            assignment = _pay_for_coming(posting, worker, session_id, **finish)
        record("opened" if is_confirmed else "opened, not confirmed", assignment, actor=actor_of(worker))
    return assignment


def forget_stranger(worker: Worker) -> None:
    """Delete a worker who declined, unless there are other records of them."""
    strangers(Worker.objects.filter(pk=worker.pk)).delete()


def strangers(workers: QuerySet[Worker]) -> QuerySet[Worker]:
    """Keep the workers who never consented and have no records."""
    workers = workers.filter(consented_at=None)
    return workers.filter(assignments=None, exclusions=None, pauses=None, messages=None, tests=None, reports=None)


def purge_strangers() -> int:
    """Delete visitors who never answered whether they consent; return their number. Nothing about them is kept."""
    old = Worker.objects.filter(identities__channel__in=channels.platforms(), created_at__lt=clock.now() - SESSION_LIFE)
    return strangers(old).delete()[1].get("annotation.Worker", 0)


def refuse_shut_out(worker: Worker, round: Round) -> None:
    """Raise Trouble for a worker who is excluded, paused in the round, or whose last work all waits for a person."""
    permit = permit_of(round, worker)
    if permit.excluded:
        raise Trouble("We have no work for you", f"You can no longer work in our rounds. {RETURN_IT}", status=403)
    if permit.paused:
        raise Trouble(
            "You are paused in this round", f"We give you no more of its HITs for now. {RETURN_IT}", status=403
        )
    if permit.waits:
        raise Trouble("Your last HITs are being checked", f"{BEING_CHECKED} {RETURN_IT}", status=403)


def not_theirs() -> Trouble:
    return Trouble(
        "This HIT belongs to another worker",
        "The platform has given this assignment to another worker or HIT. Go back to the platform and open your HIT "
        "from there.",
        status=409,
    )


def _is_over(posting: Posting, arrival: Arrival) -> bool:
    """Whether it is too late: a HIT accepted before its round was closed may be finished; a preview is not accepted."""
    if posting.round.state != "closed":
        return posting.state == Posting.State.DISPOSED
    return arrival.is_preview or posting.state == Posting.State.DISPOSED or posting.settled_at is not None


def _of_session(posting: Posting, session_id: str) -> VisitQuerySet:
    return Visit.objects.filter(**posting.market, external_id=session_id)


@transaction.atomic
def _doubt_others(posting: Posting, session_id: str, worker: Worker) -> bool:
    """Ask a person about the work of others who came with the same session. Return whether there are any."""
    visits = _of_session(posting, session_id).exclude(worker=worker)
    others = Assignment.objects.filter(visit__in=visits)
    for other in others.filter(problem=""):
        Assignment.objects.filter(pk=other.pk).update(problem=TWO_PEOPLE)
        record("claimed by two workers", other, actor="arrivals")
    return others.exists()


def _pay_for_coming(posting: Posting, worker: Worker, session_id: str, **finish: Any) -> Assignment:
    """Record a session for which no HIT is left, and owe its reward; above the ceiling, a person decides."""
    now = clock.now()
    assignment = Assignment.objects.create(
        hit=posting.round.hits.all()[0],  # any one, as a row needs a HIT; has_hit says that it was not given
        has_hit=False,
        worker=worker,
        state=Assignment.State.EXCLUDED,
        deadline=now,
        submitted_at=now,
        outside_key=session_id,
    )
    posting.begin_visit(assignment, **finish)
    Assignment.objects.filter(pk=assignment.pk).update(receipt=assignment.receipt_code)
    Decision.objects.create(assignment=assignment, votes_count=False, paid=True, reason=NOTHING_LEFT)
    try:
        owe(assignment)
    except CeilingError as error:
        excluded = Assignment.State.EXCLUDED
        flagged = Assignment.State.FLAGGED
        move(assignment, come_from=excluded, to=flagged, actor="arrivals", problem=f"{NOTHING_LEFT} {error}")
    return assignment
