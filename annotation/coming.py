"""What a platform may still bring for a round: answer sets asked for, those in its hands, and the seats left over."""

from collections import Counter
from collections.abc import Iterator

from django.db.models import Count, F, Q, Sum

from crowd.models import PlatformAssignment, Posting
from hits.models import HIT, Round, Seat

State = Posting.State

COMING = (State.PLANNED, State.LIVE)


def short_of_work(round: Round) -> Iterator[tuple[HIT, int]]:
    """HITs with more open seats than answer sets that may still come, and how many more."""
    open_seats = Count("seats", filter=Q(seats__state=Seat.State.OPEN))
    coming = _coming(round)  # before the seats: what is taken in between leaves too little asked for, not too much
    for hit in round.hits.annotate(n_open=open_seats).filter(n_open__gt=0):
        if (missing := hit.n_open - coming[hit.pk]) > 0:
            yield hit, missing


def unposted(round: Round) -> int:
    """Count the answer sets that are asked for in postings, but that the platform does not know of yet."""
    postings = Posting.objects.filter(hit__round=round, state__in=COMING)
    return postings.aggregate(n=Sum(F("max_assignments") - F("posted_assignments")))["n"] or 0


def _coming(round: Round) -> Counter[int]:
    """By HIT: answer sets asked for in live or planned postings and not yet submitted, and those that are submitted
    and wait to be taken in, which will fill a seat each."""
    postings = Posting.objects.filter(hit__round=round, state__in=COMING).order_by()
    listed = Count("assignments", filter=~Q(assignments__status=""))
    coming: Counter[int] = Counter()
    for hit, count in postings.annotate(unused=F("max_assignments") - listed).values_list("hit", "unused"):
        coming[hit] += max(count, 0)
    # Read last: what somebody else collects meanwhile is then counted twice, which the next look mends, and not left
    # out, which would ask and pay for one more.
    arrived = PlatformAssignment.objects.filter(posting__hit__round=round, assignment=None, problem="")
    coming.update(arrived.exclude(status="").values_list("posting__hit", flat=True))
    return coming
