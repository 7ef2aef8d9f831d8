"""What a platform may still bring for a round: answer sets asked for, those in its hands, and the seats left over."""

from collections.abc import Iterator

from django.db.models import Count, F, Q, Sum

from hits.models import HIT, PlatformHIT, Round, Seat

State = PlatformHIT.State

COMING = (State.PLANNED, State.LIVE)


def short_of_work(round: Round) -> Iterator[tuple[HIT, int]]:
    """HITs with more open seats than answer sets that may still come, and how many more."""
    open_seats = Count("seats", filter=Q(seats__state=Seat.State.OPEN))
    coming = _coming(round)
    for hit in round.hits.annotate(n_open=open_seats).filter(n_open__gt=0):
        if (missing := hit.n_open - coming.get(hit.pk, 0)) > 0:
            yield hit, missing


def unposted(round: Round) -> int:
    """Count the answer sets that are asked for in postings, but that the platform does not know of yet."""
    postings = PlatformHIT.objects.filter(hit__round=round, state__in=COMING)
    return postings.aggregate(n=Sum(F("max_assignments") - F("posted_assignments")))["n"] or 0


def _coming(round: Round) -> dict[int, int]:
    """By HIT: answer sets asked for in live or planned postings and not yet submitted."""
    postings = PlatformHIT.objects.filter(hit__round=round, state__in=COMING).order_by()
    listed = Count("assignments", filter=~Q(assignments__status=""))
    unused = postings.annotate(unused=F("max_assignments") - listed).values_list("hit", "unused")
    coming: dict[int, int] = {}
    for hit, count in unused:
        coming[hit] = coming.get(hit, 0) + max(count, 0)
    return coming
