"""Arrivals: a platform's visitor becomes a worker with an assignment, or is told why not."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.admission import is_excluded, pairs_seen
from annotation.models import Assignment, AssignmentQuerySet, Worker
from annotation.workers import actor_of, give_consent, locked, worker_for
from core.errors import CounterpartError
from core.events import record
from crowd.channels import Arrival
from crowd.models import Posting
from crowd.offers import offer_of


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
    posting = known.exclude(external_id="").select_related("hit__round__pool").first()
    if posting is None:
        raise TurnedAwayError(
            "We do not know this HIT",
            "If it was posted just now, reload the page in a minute. Otherwise return it: that costs you nothing.",
            status=404,
        )
    if _is_over(posting, arrival):
        raise TurnedAwayError(
            "This round is closed",
            "All answers are in. If you have accepted this HIT, return it: that costs you nothing. Thank you.",
            status=410,
        )
    return posting


def claim_hit(posting: Posting, arrival: Arrival) -> Assignment:
    """Return the visitor's assignment to the posting's HIT, as claimed; a new one on their first visit.

    Accepting the HIT on the platform is their consent. Raises TurnedAwayError, and stores nothing, if the assignment
    was submitted by another worker or belongs to another posting, and on a first visit if the worker is excluded or has
    had one of the pairs before.
    """
    place = {"channel": posting.channel, "environment": posting.environment}
    of_this_id = Assignment.objects.filter(**place, external_id=arrival.assignment_id)
    _refuse_bound(of_this_id, arrival)
    worker = worker_for(**place, external_id=arrival.worker_id)
    give_consent(worker)
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
                hit=posting.hit,
                worker=worker,
                deadline=timezone.now() + timedelta(minutes=offer_of(posting.hit.round).minutes),
            )
            record("opened", assignment, actor=actor_of(worker))
        elif assignment.external_posting != posting.external_id:
            raise _not_theirs()
        else:
            of_this_id.filter(pk=assignment.pk).update(**finish)
    return assignment


def _is_over(posting: Posting, arrival: Arrival) -> bool:
    """Whoever accepted a HIT before its round was closed may still finish it; in a preview nobody has accepted it."""
    if posting.hit.round.state != "closed":
        return posting.state == Posting.State.DISPOSED
    return arrival.is_preview or posting.state == Posting.State.DISPOSED or posting.settled_at is not None


def _refuse_bound(of_this_id: AssignmentQuerySet, arrival: Arrival) -> None:
    """Only a submission binds an assignment id to a worker; before, the platform may give it to another one."""
    bound = of_this_id.listed().select_related("worker").first()
    if bound and not bound.worker.identities.filter(external_id=arrival.worker_id).exists():
        raise _not_theirs()


def _refuse_unwelcome(worker: Worker, posting: Posting) -> None:
    if is_excluded(worker):
        raise TurnedAwayError(
            "We have no work for you",
            "You can no longer work in our rounds. Please return this HIT: that costs you nothing, and your earlier "
            "work is paid as decided.",
            status=403,
        )
    pairs = set(posting.hit.items.values_list("image", "caption"))
    if twice := len(pairs & pairs_seen(worker, again=posting.hit)):
        raise TurnedAwayError(
            "You have judged some of this before",
            f"You have seen {twice} of the {len(pairs)} pairs of this HIT, and each worker judges a pair only once. "
            "Please return it, which costs you nothing, and take another one.",
            status=409,
        )


def _not_theirs() -> TurnedAwayError:
    return TurnedAwayError(
        "This is somebody else's HIT",
        "The platform has given this assignment to another worker or HIT. Go back to the platform and open your HIT "
        "from there.",
        status=409,
    )
