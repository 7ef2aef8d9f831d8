"""Seats of a round and the answer sets that platforms may still bring for them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Payment, PlatformState
from annotation.platforms import Postings
from crowd import channels
from crowd.models import Posting
from hits.models import HIT, Round, Seat

State = Posting.State

COMING = (State.PLANNED, State.LIVE)


class PlatformPostings(Postings):
    """What the rows of postings tell the money of a round."""

    def answer_sets_due(self, rounds: Sequence[Round]) -> dict[int, tuple[int, int]]:
        """Money is held for all answer sets that were posted or, once the posting is settled, for those that were
        submitted; not for what was earned or rejected."""
        postings = Posting.objects.filter(hit__round__in=rounds).order_by().values_list("hit__round")
        counts = postings.annotate(
            posted=Sum("posted_assignments", filter=Q(settled_at=None), default=0),
            unposted=Sum(F("max_assignments") - F("posted_assignments"), filter=Q(state__in=COMING), default=0),
        )
        earned = Payment.objects.filter(assignment=OuterRef("pk"), kind=Payment.Kind.REWARD, state__in=Payment.EARNED)
        settled = Posting.objects.filter(hit__round__in=rounds, settled_at__isnull=False).exclude(external_id="")
        work = Assignment.objects.listed().filter(hit__round__in=rounds).order_by()
        listed = work.values_list("hit__round").annotate(
            listed=Count("pk", filter=Q(external_posting__in=settled.values("external_id"))),
            done=Count("pk", filter=Q(platform_state=PlatformState.REJECTED) | Q(Exists(earned))),
        )
        submitted = {round: listed - done for round, listed, done in listed}
        due = {round.pk: (0, 0) for round in rounds}
        return due | {round: (posted + submitted.get(round, 0), unposted) for round, posted, unposted in counts}

    def seats_without_posting(self, rounds: Sequence[Round]) -> Counter[int]:
        seats: Counter[int] = Counter()
        for round, missing in _missing(rounds).values():
            seats[round] += missing
        return seats

    def reversible_until(self, assignment: Assignment) -> datetime | None:
        platform = channels.platforms().get(assignment.channel)
        return assignment.submitted_at + platform.reversible if platform and assignment.submitted_at else None

    def can_pay_reward(self, assignment: Assignment) -> bool:
        postings = Posting.objects.filter(hit=assignment.hit_id, external_id=assignment.external_posting)
        return postings.exclude(state=State.DISPOSED).exists()


def with_left(postings: QuerySet[Posting]) -> QuerySet[Any]:
    """Add ``left`` to postings: how many of their answer sets were not submitted."""
    of_posting = Assignment.objects.listed().filter(hit=OuterRef("hit"), external_posting=OuterRef("external_id"))
    listed = of_posting.order_by().values("external_posting").annotate(n=Count("pk")).values("n")
    return postings.annotate(left=F("max_assignments") - Coalesce(Subquery(listed), 0))


def hits_to_post(round: Round) -> Iterator[tuple[HIT, int]]:
    """Yield the HITs with more open seats than answer sets that may still come, and how many more."""
    missing = _missing([round])
    for hit in round.hits.filter(pk__in=missing):
        yield hit, missing[hit.pk][1]


def _missing(rounds: Sequence[Round]) -> dict[int, tuple[int, int]]:
    """Return for each HIT that lacks answer sets its round and how many."""
    coming = _coming(rounds)  # before the seats: a submission in between then gives too few to post, not too many
    seats = Seat.objects.filter(hit__round__in=rounds, state=Seat.State.OPEN).order_by()
    open_seats = seats.values_list("hit", "hit__round").annotate(n=Count("pk"))
    return {hit: (round, n - coming[hit]) for hit, round, n in open_seats if n > coming[hit]}


def _coming(rounds: Sequence[Round]) -> Counter[int]:
    """Count by HIT the answer sets of live or planned postings that are not yet submitted, and the submitted ones that
    wait to be stored, which will fill a seat each."""
    postings = Posting.objects.filter(hit__round__in=rounds, state__in=COMING).order_by()
    coming: Counter[int] = Counter()
    for hit, count in with_left(postings).values_list("hit", "left"):
        coming[hit] += max(count, 0)
    # Read last: what another process lists meanwhile is then counted twice, which the next run corrects. Left out, it
    # would be posted and paid for once more.
    arrived = Assignment.objects.waiting().filter(hit__round__in=rounds, problem="")
    coming.update(arrived.values_list("hit", flat=True))
    return coming
