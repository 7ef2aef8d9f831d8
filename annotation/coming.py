"""What platforms may still bring: answer sets that they hold money for or are asked for, and seats left over."""

from collections import Counter
from collections.abc import Iterator, Sequence

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Payment, PlatformState
from crowd.models import Posting
from hits.models import HIT, Round, Seat

State = Posting.State

COMING = (State.PLANNED, State.LIVE)


def asked_of(rounds: Sequence[Round]) -> dict[int, tuple[int, int]]:
    """Return for each round how many answer sets its platform keeps money for, and how many more are asked for that it
    does not know of yet.

    Money is kept for all that were posted or, once the posting is settled, for those that were submitted; it is kept no
    more for what was earned or rejected.
    """
    if not rounds:
        return {}
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
    asked = {round.pk: (0, 0) for round in rounds}
    return asked | {round: (posted + submitted.get(round, 0), unposted) for round, posted, unposted in counts}


def short_of(rounds: Sequence[Round]) -> Counter[int]:
    """Count for each round the open seats for which no answer set is coming."""
    short: Counter[int] = Counter()
    for round, missing in _missing(rounds).values():
        short[round] += missing
    return short


def short_of_work(round: Round) -> Iterator[tuple[HIT, int]]:
    """Yield the HITs with more open seats than answer sets that may still come, and how many more."""
    missing = _missing([round])
    for hit in round.hits.filter(pk__in=missing):
        yield hit, missing[hit.pk][1]


def _missing(rounds: Sequence[Round]) -> dict[int, tuple[int, int]]:
    """Return for each HIT that lacks answer sets its round and how many."""
    if not rounds:
        return {}
    coming = _coming(rounds)  # before the seats: what is taken in between leaves too little asked for, not too much
    seats = Seat.objects.filter(hit__round__in=rounds, state=Seat.State.OPEN).order_by()
    open_seats = seats.values_list("hit", "hit__round").annotate(n=Count("pk"))
    return {hit: (round, n - coming[hit]) for hit, round, n in open_seats if n > coming[hit]}


def _coming(rounds: Sequence[Round]) -> Counter[int]:
    """By HIT: answer sets asked for in live or planned postings and not yet submitted, and those that are submitted
    and wait to be taken in, which will fill a seat each."""
    postings = Posting.objects.filter(hit__round__in=rounds, state__in=COMING).order_by()
    of_posting = Assignment.objects.listed().filter(hit=OuterRef("hit"), external_posting=OuterRef("external_id"))
    listed = of_posting.order_by().values("external_posting").annotate(n=Count("pk")).values("n")
    left = F("max_assignments") - Coalesce(Subquery(listed), 0)
    coming: Counter[int] = Counter()
    for hit, count in postings.annotate(left=left).values_list("hit", "left"):
        coming[hit] += max(count, 0)
    # Read last: what somebody else collects meanwhile is then counted twice, which the next look corrects, and not left
    # out, which would ask and pay for one more.
    arrived = Assignment.objects.waiting().filter(hit__round__in=rounds, problem="")
    coming.update(arrived.values_list("hit", flat=True))
    return coming
