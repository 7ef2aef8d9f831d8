"""Arrivals: a platform's visitor becomes a worker with an assignment, or is told why not.

What a visitor claims counts for nothing until the platform confirms it, and is deleted if it never does. Where the
platform lists a whole round, its visitors come with a session, which gets a HIT from the allocator of the browser pool.
"""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.admission import is_excluded, pairs_seen
from annotation.budget import CeilingError
from annotation.leases import AT_ONCE, lease_for_visitor
from annotation.models import CLAIM, Assignment, AssignmentQuerySet, Decision, PlatformState, Report, Worker
from annotation.payments import owe
from annotation.receipts import receipt_of
from annotation.workers import actor_of, locked, worker_for
from core.errors import CounterpartError
from core.events import record, record_each
from crowd import channels
from crowd.channels import Arrival, ChannelError, Outcome
from crowd.models import Posting
from crowd.offers import offer_of

TWO_PEOPLE = "Two workers have come with this session. Check which of them it is before anything is paid."
NOTHING_LEFT = "No HIT was left for this person, who is paid for coming."


class TurnedAwayError(CounterpartError):
    """A visitor who cannot work on this HIT. ``title`` is the heading of the page that says why, ``status`` its HTTP
    status."""

    def __init__(self, title: str, text: str, *, status: int) -> None:
        super().__init__(text)
        self.title, self.status = title, status


def posting_of(arrival: Arrival, *, channel: str, environment: str) -> Posting:
    """Return the posting that the visitor came for. What they see depends on it, not on who comes when.

    Raises TurnedAwayError for an unknown posting, and for one of a closed round that can take no submission.
    """
    known = Posting.objects.filter(channel=channel, environment=environment, external_id=arrival.posting_id)
    posting = known.exclude(external_id="").select_related("hit__round__pool", "round__pool").first()
    if posting is None:
        raise TurnedAwayError(
            "We do not know this HIT",
            "If it was posted just now, reload the page in a minute. Otherwise return it: that costs you nothing.",
            status=404,
        )
    if posting.hit and _is_over(posting, arrival):
        raise TurnedAwayError(
            "This round is closed",
            "All answers are in. If you have accepted this HIT, return it: that costs you nothing. Thank you.",
            status=410,
        )
    return posting


def claim_hit(posting: Posting, arrival: Arrival) -> Assignment:
    """Return the visitor's assignment to the posting's HIT, as claimed; a new one on their first visit.

    Accepting the HIT on the platform is their consent, which ``intake`` notes once the platform confirms it. Raises
    TurnedAwayError, and stores nothing, if the assignment was submitted by another worker or belongs to another
    posting, and on a first visit if the worker is excluded or has had one of the pairs before.
    """
    place = {"channel": posting.channel, "environment": posting.environment}
    of_this_id = Assignment.objects.filter(**place, external_id=arrival.assignment_id)
    _refuse_bound(of_this_id, arrival)
    worker = worker_for(**place, external_id=arrival.worker_id)
    finish = {"finish_url": arrival.finish_url, "finish_fields": dict(arrival.finish_fields)}
    with transaction.atomic():
        # One first visit of a worker at a time: otherwise two tabs could both pass the checks.
        locked(worker.pk)
        assignment = of_this_id.filter(worker=worker).first()
        if assignment is None:
            _refuse_unwelcome(worker, posting)
            assignment = Assignment.objects.create(
                **place,
                **finish,
                external_id=arrival.assignment_id,
                external_posting=posting.external_id,
                hit=posting.one_hit,
                worker=worker,
                deadline=timezone.now() + timedelta(minutes=offer_of(posting.round).minutes),
            )
            record("opened", assignment, actor=actor_of(worker))
        elif assignment.external_posting != posting.external_id:
            raise _not_theirs()
        else:
            of_this_id.filter(pk=assignment.pk).update(**finish)
    return assignment


def has_claimed(posting: Posting, arrival: Arrival) -> bool:
    """Whether the visitor's assignment is here already."""
    place = {"channel": posting.channel, "environment": posting.environment}
    claims = Assignment.objects.filter(**place, external_id=arrival.assignment_id)
    return claims.filter(worker__identities__external_id=arrival.worker_id).exists()


def assignment_of_session(posting: Posting, session_id: str, worker: Worker) -> Assignment | None:
    """Return what the worker was given in this session before."""
    return _of_session(posting, session_id).filter(worker=worker).select_related("hit__round", "worker").first()


def begin_session(posting: Posting, arrival: Arrival, worker: Worker) -> Assignment:
    """Give the HIT of a new session to its worker, who has consented; the one that they were given before, if there is
    one. Where no HIT is left for them, they get an assignment without a seat, which is paid.

    A session that the platform cannot confirm now is let in: its payment waits for the platform's list all the same.
    Raises TurnedAwayError for a session that the platform refuses or has given to somebody else, and for an excluded
    worker.
    """
    platform = channels.session_platform(posting.channel)
    try:
        is_confirmed = platform.confirm(posting, arrival)
    except ChannelError as error:
        raise TurnedAwayError("The platform does not know this session", str(error), status=403) from error
    others = _of_session(posting, arrival.assignment_id).exclude(worker=worker)
    with transaction.atomic():
        for other in others.filter(problem=""):
            Assignment.objects.filter(pk=other.pk).update(problem=TWO_PEOPLE)
            record("claimed by two workers", other, actor="arrivals")
    if others and not is_confirmed:
        raise _not_theirs()
    finish_url, fields = platform.finish(posting, Outcome.DONE)
    known = {
        "channel": posting.channel,
        "environment": posting.environment,
        "external_id": arrival.assignment_id,
        "external_posting": posting.external_id,
    }
    with transaction.atomic():
        locked(worker.pk)
        if found := assignment_of_session(posting, arrival.assignment_id, worker):
            return found
        if is_excluded(worker):
            raise _excluded()
        time, finish = platform.longest_session(posting), {"finish_url": finish_url, "finish_fields": dict(fields)}
        assignment = lease_for_visitor(posting.round, worker=worker, time=time, **known, **finish)
        if assignment is None:
            finish_url, fields = platform.finish(posting, Outcome.NO_WORK)
            finish = {"finish_url": finish_url, "finish_fields": dict(fields)}
            assignment = _pay_for_coming(posting, worker, **known, **finish)
        record("opened" if is_confirmed else "opened, not confirmed", assignment, actor=actor_of(worker))
    return assignment


def forget_stranger(worker: Worker) -> None:
    """Delete a worker who does not take part, unless something else is known of them."""
    _strangers(Worker.objects.filter(pk=worker.pk)).delete()


def _of_session(posting: Posting, session_id: str) -> AssignmentQuerySet:
    place = {"channel": posting.channel, "environment": posting.environment}
    return Assignment.objects.filter(**place, external_id=session_id)


def _pay_for_coming(posting: Posting, worker: Worker, **on_platform: Any) -> Assignment:
    """Record a session for which no HIT is left, and owe its reward; a person decides where the ceiling forbids it."""
    now = timezone.now()
    assignment = Assignment.objects.create(
        hit=posting.round.hits.all()[0],
        has_hit=False,
        worker=worker,
        state=Assignment.State.EXCLUDED,
        deadline=now,
        submitted_at=now,
        **on_platform,
    )
    Assignment.objects.filter(pk=assignment.pk).update(receipt=receipt_of(assignment))
    Decision.objects.create(assignment=assignment, votes_count=False, paid=True, reason=NOTHING_LEFT)
    try:
        owe(assignment)
    except CeilingError as error:
        flagged = {"state": Assignment.State.FLAGGED, "problem": f"{NOTHING_LEFT} {error}"}
        Assignment.objects.filter(pk=assignment.pk).update(**flagged)
    return assignment


def _strangers(workers: QuerySet[Worker]) -> QuerySet[Worker]:
    """Keep those who never consented and of whom nothing is known."""
    workers = workers.filter(consented_at=None)
    return workers.filter(assignments=None, exclusions=None, messages=None, tests=None, reports=None)


def purge_claims() -> int:
    """Delete claims that their platform never confirmed, once nothing more can come for their posting, and the workers
    of whom nothing else is known. Returns the number of claims."""
    settled = Posting.objects.filter(
        channel=OuterRef("channel"),
        environment=OuterRef("environment"),
        external_id=OuterRef("external_posting"),
        settled_at__isnull=False,
    )
    never_confirmed = Assignment.objects.filter(CLAIM, Exists(settled), platform_state=PlatformState.UNCONFIRMED)
    purged = 0
    while done := _purge(never_confirmed):
        purged += done
    return purged


@transaction.atomic
def _purge(never_confirmed: AssignmentQuerySet) -> int:
    """Delete some, but for those that another transaction is taking in."""
    claims = list(never_confirmed.select_for_update(skip_locked=True, of=("self",))[:AT_ONCE])
    record_each("deleted as never confirmed", claims, actor="reconciler")
    Report.objects.filter(assignment__in=claims).delete()
    Assignment.objects.filter(pk__in=[claim.pk for claim in claims]).delete()
    _strangers(Worker.objects.filter(pk__in=[claim.worker_id for claim in claims])).delete()
    return len(claims)


def _is_over(posting: Posting, arrival: Arrival) -> bool:
    """Whoever accepted a HIT before its round was closed may still finish it; in a preview nobody has accepted it."""
    if posting.round.state != "closed":
        return posting.state == Posting.State.DISPOSED
    return arrival.is_preview or posting.state == Posting.State.DISPOSED or posting.settled_at is not None


def refuse_taken(assignment: Assignment) -> None:
    """Raise TurnedAwayError for a claim to an assignment that another worker has submitted: after a return, a platform
    gives one id to several workers, and no answer of the others can be confirmed any more."""
    if not (assignment.is_claim and assignment.external_id) or assignment.platform_state:
        return
    of_this_id = Assignment.objects.filter(channel=assignment.channel, environment=assignment.environment)
    if of_this_id.listed().filter(external_id=assignment.external_id).exists():
        raise TurnedAwayError(
            "Another worker has submitted this HIT",
            "You returned it, or its time ran out, and the platform gave it to another worker, who has submitted it. "
            "Answers that you give here could not be paid, so nothing more is saved. Go back to the platform and take "
            "another HIT.",
            status=409,
        )


def _refuse_bound(of_this_id: AssignmentQuerySet, arrival: Arrival) -> None:
    """Only a submission binds an assignment id to a worker; before, the platform may give it to another one."""
    bound = of_this_id.listed().select_related("worker").first()
    if bound and not bound.worker.identities.filter(external_id=arrival.worker_id).exists():
        raise _not_theirs()


def _refuse_unwelcome(worker: Worker, posting: Posting) -> None:
    if is_excluded(worker):
        raise _excluded()
    pairs = set(posting.one_hit.items.values_list("image", "caption"))
    if twice := len(pairs & pairs_seen(worker)):
        raise TurnedAwayError(
            "You have judged some of this before",
            f"You have seen {twice} of the {len(pairs)} pairs of this HIT, and each worker judges a pair only once. "
            "Please return it, which costs you nothing, and take another one.",
            status=409,
        )


def _excluded() -> TurnedAwayError:
    return TurnedAwayError(
        "We have no work for you",
        "You can no longer work in our rounds. Please return this HIT: that costs you nothing, and your earlier "
        "work is paid as decided.",
        status=403,
    )


def _not_theirs() -> TurnedAwayError:
    return TurnedAwayError(
        "This is somebody else's HIT",
        "The platform has given this assignment to another worker or HIT. Go back to the platform and open your HIT "
        "from there.",
        status=409,
    )
