"""Seats of a round and the answer sets that platforms may still bring for them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Aggregate, Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Payment
from crowd.channels import is_by_session
from crowd.endings import takes_place
from crowd.models import Posting, Visit, visits_to_posting
from hits.models import HIT, Round, Seat

COMING = (Posting.State.PLANNED, Posting.State.LIVE)


def answer_sets_due(rounds: Sequence[Round]) -> dict[int, tuple[int, int]]:
    """Count by round the answer sets that its platform holds money for, and those that it does not know of yet.

    | answer sets | counted |
    |---|---|
    | of a posting that is not settled | all that the platform lists (``posted_assignments``) |
    | of a settled posting | those that were submitted |
    | whose reward is owed or paid, or that the platform has settled itself | not: the ledger has them |
    | rejected | not, unless the posting grows: the platform gives its place to another worker |
    | wanted of a posting that may still grow | as not known to the platform yet |
    """
    counts = Posting.objects.filter(round__in=rounds).order_by().values_list("round").annotate(
        posted=Sum("posted_assignments", filter=Q(settled_at=None), default=0),
        unposted=Sum(F("max_assignments") - F("posted_assignments"), filter=Q(state__in=COMING), default=0),
    )  # fmt: skip
    earned = Payment.objects.filter(
        assignment=OuterRef("assignment"), kind=Payment.Kind.REWARD, state__in=Payment.EARNED
    )
    grows = Q(posting__settled_at=None, posting__hit=None)  # a rejected place is free again there
    rejected = Q(state=Visit.State.REJECTED) & ~grows
    paid_there = Q(state=Visit.State.SETTLED)
    comes = Q(state=Visit.State.UNCONFIRMED) & grows  # its place pays for it
    visits = Visit.objects.filter(comes | Q(state__in=Visit.LISTED), posting__round__in=rounds).order_by()
    submitted = visits.values_list("posting__round").annotate(
        held=Count("pk", filter=Q(posting__settled_at__isnull=False)),
        done=Count("pk", filter=Q(Exists(earned)) | rejected | paid_there),
    )
    still_held = {round: held - done for round, held, done in submitted}
    due = {round.pk: (0, 0) for round in rounds}
    return due | {round: (posted + still_held.get(round, 0), unposted) for round, posted, unposted in counts}


def seats_without_posting(rounds: Sequence[Round]) -> Counter[int]:
    """Count for each round the open seats for which no answer set is coming."""
    seats: Counter[int] = Counter()
    for round, missing in _missing(rounds).values():
        seats[round] += missing
    by_session = [round for round in rounds if is_by_session(round.channel)]
    return seats + places_missing(by_session) if by_session else seats


def with_left(postings: QuerySet[Posting]) -> QuerySet[Any]:
    """Add ``left`` to postings: how many of their answer sets were not submitted."""
    listed = visits_to_posting().listed().order_by().values("posting").annotate(n=Count("pk")).values("n")
    return postings.annotate(left=F("max_assignments") - Coalesce(Subquery(listed), 0))


def hits_to_post(round: Round) -> Iterator[tuple[HIT, int]]:
    """Yield the HITs with more open seats than answer sets that may still come, and how many more."""
    missing = _missing([round])
    for hit in round.hits.filter(pk__in=missing):
        yield hit, missing[hit.pk][1]


def places_missing(rounds: Sequence[Round]) -> Counter[int]:
    """Count for each round that is posted as a whole the places to add to its posting; rounds without any are left out.

    It needs a place for each open seat and for each session that takes one (``endings.TAKES_PLACE``). One statement
    reads both, so that no session is counted twice while it changes state.
    """
    taken = takes_place(Visit.objects.filter(posting__round=OuterRef("pk")))
    open_seats = Seat.objects.filter(round=OuterRef("pk"), state=Seat.State.OPEN)
    asked = Posting.objects.filter(round=OuterRef("pk"), hit=None, state__in=COMING)
    counted = Round.objects.filter(pk__in=[round.pk for round in rounds]).annotate(
        missing=_subquery(open_seats, Count("pk")) + _subquery(taken, Count("pk"))
        - _subquery(asked, Sum("max_assignments"))
    )  # fmt: skip
    return Counter({round: missing for round, missing in counted.values_list("pk", "missing") if missing > 0})


def _subquery(rows: QuerySet[Any], total: Aggregate) -> Coalesce:
    """Return a total of rows of the outer query, 0 if there are none."""
    grouped = rows.order_by().annotate(one=Value(1)).values("one").annotate(total=total).values("total")
    return Coalesce(Subquery(grouped, output_field=IntegerField()), 0)


def _missing(rounds: Sequence[Round]) -> dict[int, tuple[int, int]]:
    """Return for each HIT with missing answer sets its round and their number, without rounds posted as a whole."""
    rounds = [round for round in rounds if not is_by_session(round.channel)]
    coming = _coming(rounds)  # before the seats: a submission in between then gives too few to post, not too many
    seats = Seat.objects.filter(round__in=rounds, state=Seat.State.OPEN).order_by()
    open_seats = seats.values_list("hit", "round").annotate(n=Count("pk"))
    return {hit: (round, n - coming[hit]) for hit, round, n in open_seats if n > coming[hit]}


def _coming(rounds: Sequence[Round]) -> Counter[int]:
    """Count by HIT the answer sets of live or planned postings that are not yet submitted, and the submitted ones that
    wait to be stored, which will fill a seat each."""
    postings = Posting.objects.filter(round__in=rounds, state__in=COMING).order_by()
    coming: Counter[int] = Counter()
    for hit, count in with_left(postings).values_list("hit", "left"):
        coming[hit] += max(count, 0)
    # Read last: what another process lists meanwhile is then counted twice, which the next run corrects. Left out, it
    # would be posted and paid for once more.
    arrived = Assignment.objects.waiting().filter(hit__round__in=rounds, problem="")
    coming.update(arrived.values_list("hit", flat=True))
    return coming
