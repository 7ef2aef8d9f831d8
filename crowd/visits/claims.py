"""Claims: a visitor who came for one HIT names their assignment. The platform confirms it by listing the submission
(``sync``); a claim that it never confirms is deleted."""

from datetime import timedelta

from django.db import transaction

from annotation.judging.links import Trouble
from annotation.models import CLAIM, Assignment, AssignmentQuerySet, ConsentSheet, Report, Worker
from annotation.people.admission import pairs_seen
from annotation.people.consent import has_agreed
from annotation.people.workers import actor_of, locked, worker_for
from annotation.work.leases import AT_ONCE
from core import clock
from core.events import record, record_each
from crowd.channels.base import Arrival
from crowd.models import Posting, Visit
from crowd.offers import offer_of
from crowd.visits.arrivals import not_theirs, refuse_shut_out, strangers


def claim_hit(posting: Posting, arrival: Arrival, *, sheet: ConsentSheet) -> Assignment:
    """Return the visitor's assignment to the posting's HIT, as claimed; a new one on their first visit.

    Accepting the HIT on the platform is their consent to this sheet, which ``intake`` notes once the platform confirms
    it. Raises Trouble, and stores nothing, if the assignment was submitted by another worker or belongs to another
    posting, and on a first visit if the worker is excluded or paused or has had one of the pairs before.
    """
    of_this_id = Visit.objects.filter(**posting.market, external_id=arrival.assignment_id)
    # Another worker may have submitted this id: until a submission, the platform may reassign an id.
    bound = of_this_id.listed().select_related("worker").first()
    if bound and not bound.worker.identities.filter(external_id=arrival.worker_id).exists():
        raise not_theirs()
    worker = worker_for(**posting.market, external_id=arrival.worker_id)
    finish = {"finish_url": arrival.finish_url, "finish_fields": dict(arrival.finish_fields)}
    with transaction.atomic():
        # One first visit of a worker at a time: otherwise two tabs could both pass the checks.
        locked(worker.pk)
        visit = of_this_id.filter(worker=worker).select_related("assignment__worker").first()
        if visit is None:
            _refuse_unwelcome(worker, posting)
            assignment = Assignment.objects.create(
                outside_key=arrival.assignment_id,
                hit=posting.one_hit,
                worker=worker,
                deadline=clock.now() + timedelta(minutes=offer_of(posting.round).minutes),
            )
            visit = posting.begin_visit(assignment, sheet=sheet, **finish)
            record("opened", assignment, actor=actor_of(worker))
        elif visit.posting_id != posting.pk:
            raise not_theirs()
        else:
            of_this_id.filter(pk=visit.pk).update(**finish)
    return visit.assignment


def has_claimed(posting: Posting, arrival: Arrival) -> bool:
    """Whether the visitor's assignment is here already."""
    claims = Visit.objects.filter(**posting.market, external_id=arrival.assignment_id)
    return claims.filter(worker__identities__external_id=arrival.worker_id).exists()


def has_agreed_otherwise(posting: Posting, arrival: Arrival, sheet: ConsentSheet) -> bool:
    """Whether the visitor agreed to another version of the sheet with their last HIT of the round."""
    visits = Visit.objects.filter(**posting.market, posting__round=posting.round)
    last = visits.filter(worker__identities__external_id=arrival.worker_id).select_related("worker", "sheet").last()
    if last is None:
        return False
    return last.sheet != sheet if last.sheet else not has_agreed(last.worker, posting.round)


def refuse_taken(visit: Visit) -> None:
    """Raise Trouble for a claim to an assignment that another worker has submitted: after a return, a platform
    gives one id to several workers, and the answers of the others can never be confirmed."""
    if not (visit.assignment.is_claim and visit.is_unconfirmed):
        return
    of_this_id = Visit.objects.filter(channel=visit.channel, environment=visit.environment)
    if of_this_id.listed().filter(external_id=visit.external_id).exists():
        raise Trouble(
            "Another worker has submitted this HIT",
            "You returned it, or its time ran out, and the platform gave it to another worker, who has submitted it. "
            "Answers that you give here could not be paid, so nothing more is saved. Go back to the platform and take "
            "another HIT.",
            status=409,
        )


def purge_claims() -> int:
    """Delete claims that their platform never confirmed, once their posting can get no more submissions, and workers
    without other records. Returns the number of claims."""
    over = Visit.objects.unconfirmed().filter(posting__settled_at__isnull=False)
    never_confirmed = Assignment.objects.filter(CLAIM, visit__in=over)
    return sum(iter(lambda: _purge(never_confirmed), 0))


def _refuse_unwelcome(worker: Worker, posting: Posting) -> None:
    refuse_shut_out(worker, posting.round)
    pairs = set(posting.one_hit.items.values_list("image", "caption"))
    if twice := len(pairs & pairs_seen(worker)):
        raise Trouble(
            "You have judged some of this before",
            f"You have seen {twice} of the {len(pairs)} pairs of this HIT, and each worker judges a pair only once. "
            "Please return it, which costs you nothing, and take another one.",
            status=409,
        )


@transaction.atomic
def _purge(never_confirmed: AssignmentQuerySet) -> int:
    """Delete a batch of claims, except those that another transaction is storing."""
    claims = list(never_confirmed.select_for_update(skip_locked=True, of=("self",))[:AT_ONCE])
    record_each("deleted as never confirmed", claims, actor="reconciler")
    Report.objects.filter(assignment__in=claims).delete()
    Assignment.objects.filter(pk__in=[claim.pk for claim in claims]).delete()
    strangers(Worker.objects.filter(pk__in=[claim.worker_id for claim in claims])).delete()
    return len(claims)
