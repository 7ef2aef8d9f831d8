"""A round's postings on its platform: post open seats, close, remove, and count them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from math import ceil

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, Max, Min, Q, QuerySet, Subquery, Sum, TextChoices
from django.db.models.functions import Coalesce

from annotation.models import CLAIM, Assignment
from annotation.money.budget import locked, room
from core import clock
from core.errors import CounterpartError
from core.events import record, subject_of
from crowd import channels
from crowd.calls.outbox import put, send_round_on_commit, store_call
from crowd.channels import is_by_session
from crowd.models import Outbox, Posting, Visit, visits_to_posting
from crowd.offers import LIFETIME_DAYS
from crowd.posting.seats import COMING, hits_to_post, places_missing, with_left
from hits.models import HIT, Round
from hits.prices import cents

LATE_AT_LEAST = timedelta(minutes=10)
LATE_SYNCS = 5


def post_open_seats(round: Round) -> int:
    """Ask the platform for an answer set for every open seat of the round, except where one is expected already.

    Extends a live posting where the platform allows it, otherwise makes a new one; asks for no more than the round's
    ceiling allows. Returns the number of answer sets added; 0 for a round that is not open or on no platform. Repeating
    it adds nothing.
    """
    if not round.settles:
        return 0
    added = 0
    with transaction.atomic():
        current = locked(round)
        if current.state != "open":
            return 0
        left = room(current)
        cost = current.seat_cost
        if is_by_session(current.channel):
            missing = places_missing([current])[current.pk]
            added = _post(current, None, min(missing, int(left // cost) if cost else missing))
        for hit, missing in list(hits_to_post(current)):
            # The seats added above are not in ``left``, which was read before.
            affordable = int(left // cost) - added if cost else missing
            added += _post(current, hit, min(missing, affordable))
        send_round_on_commit(current)
    return added


def postings_for(round: Round, channel: str) -> int:
    """Return the number of postings that all answer sets of the round need on a platform."""
    if is_by_session(channel):
        return 1
    return round.hits.count() * ceil(round.replication / channels.platform(channel).most_assignments)


def close_postings(round: Round) -> int:
    """Ask the platform to close every posting of the round. Return their number."""
    postings = Posting.objects.filter(round=round, state__in=COMING)
    for posting in postings:
        store_call(Outbox.Call.CLOSE, posting, round=round, **posting.market)
    send_round_on_commit(round)
    return len(postings)


@dataclass(frozen=True)
class Prolonging:
    """What prolonging a round does: the number of ``postings``, of the answer sets ``open`` in them, and of those
    ``reopened``, as their posting had expired: for these the platform sets the ``cost`` (US dollars) aside again."""

    until: datetime
    postings: int
    open: int
    reopened: int
    cost: Decimal


def prolong_postings(round: Round, *, days: int, actor: str, dry: bool = False) -> Prolonging:
    """Ask the platform to keep the round's live postings open for ``days`` from now; those that stay longer are left
    as they are. ``dry``: only say what it means.

    Raises CounterpartError for a number of days that no platform accepts, and a round that is not open on a platform.
    """
    least, most = LIFETIME_DAYS
    if not least <= days <= most:
        raise CounterpartError(f"Invalid number of days {days}: use {least} to {most}.")
    with transaction.atomic():
        current = locked(round)
        if current.state != "open" or current.channel not in channels.platforms():
            raise CounterpartError(f"Round {round} is not open on a platform, so no posting of it can be prolonged.")
        now = clock.now()
        until = (now + timedelta(days=days)).replace(microsecond=0)
        live = Posting.objects.filter(round=current, state=Posting.State.LIVE, settled_at=None, expires_at__lt=until)
        postings = list(with_left(live).filter(left__gt=0))
        reopened = sum(posting.left for posting in postings if posting.expires_at <= now)
        opened = sum(posting.left for posting in postings)
        prolonging = Prolonging(until, len(postings), opened, reopened, cents(reopened * current.seat_cost))
        if postings and not dry:
            for posting in postings:
                store_call(Outbox.Call.PROLONG, posting, round=current, **posting.market, until=until.isoformat())
            record("prolonged", current, actor=actor, until=until.isoformat(), postings=len(postings))
            send_round_on_commit(current)
    return prolonging


def dispose_of_finished() -> int:
    """Ask the platforms to remove the closed postings whose work is all decided, once its rejections can no longer be
    reversed there. Return their number."""
    closed = Posting.objects.filter(state=Posting.State.CLOSED, settled_at__isnull=False, hit__isnull=False)
    closed = closed.exclude(external_id="")
    times = visits_to_posting().filter(assignment__submitted_at__isnull=False).order_by("-assignment__submitted_at")
    last = Subquery(times.values("assignment__submitted_at")[:1])
    finished = closed.filter(~Exists(visits_to_posting().undecided())).annotate(last=Coalesce(last, "settled_at"))
    asked = set(Outbox.objects.filter(call=Outbox.Call.DISPOSE).values_list("subject", flat=True))
    due = [
        posting
        for name, platform in channels.platforms().items()
        for posting in finished.filter(channel=name, last__lt=clock.now() - platform.reversible)
        if subject_of(posting) not in asked
    ]
    for posting in due:
        put(Outbox.Call.DISPOSE, posting, round=posting.round, **posting.market)
    return len(due)


@dataclass(frozen=True)
class Overview:
    """Counts of one round from our database. ``postings``, ``work`` and ``calls`` count by state, including states with
    none; ``pending`` answer sets are accepted by workers and not submitted; ``listed_at`` is when the platform was last
    read, ``leaves_at`` when the first live posting expires, ``approves_at`` when the platform approves the first
    undecided work."""

    postings: dict[str, int]
    work: dict[str, int]
    calls: dict[str, int]
    pending: int
    listed_at: datetime | None
    leaves_at: datetime | None
    approves_at: datetime | None

    @property
    def waiting(self) -> int:
        """The number of calls still to be made."""
        return self.calls[Outbox.State.PENDING] + self.calls[Outbox.State.SENDING]

    @property
    def failed(self) -> int:
        """The number of calls that the platform refused, or that were lost too often."""
        return self.calls[Outbox.State.FAILED]

    @property
    def posted(self) -> int:
        """The number of postings on the platform, open or closed."""
        return self.postings[Posting.State.LIVE] + self.postings[Posting.State.CLOSED]


def overview_of(round: Round) -> Overview:
    """Read a round's overview with four queries."""
    postings = Posting.objects.filter(round=round).order_by()
    live = Q(state=Posting.State.LIVE)
    facts = postings.aggregate(
        pending=Sum("pending", filter=live), listed_at=Max("seen_at"), leaves_at=Min("expires_at", filter=live),
        **{f"n_{state}": Count("pk", filter=Q(state=state)) for state in Posting.State.values},
    )  # fmt: skip
    visits = Visit.objects.filter(posting__round=round)
    return Overview(
        postings={state: facts[f"n_{state}"] for state in Posting.State.values},
        work=_by_state(visits, Visit.State),
        calls=_by_state(Outbox.objects.filter(round=round), Outbox.State),
        pending=facts["pending"] or 0,
        listed_at=facts["listed_at"],
        leaves_at=facts["leaves_at"],
        approves_at=visits.undecided().aggregate(first=Min("auto_approval_at"))["first"],
    )


def work_to_look_at(round: Round | None = None) -> QuerySet[Assignment]:
    """Return the undecided submissions (to one round) that have a problem."""
    undecided = CLAIM | Q(state=Assignment.State.FLAGGED)
    work = Assignment.objects.exclude(problem="").filter(undecided)
    return work.filter(hit__round=round) if round else work


def late_rounds() -> list[tuple[str, datetime]]:
    """Return the names of unfinished rounds whose platform was not read for five sync intervals (at least ten minutes),
    each with the time when it was last read."""
    patience = max(LATE_AT_LEAST, LATE_SYNCS * timedelta(seconds=settings.SYNC_SECONDS))
    posted = Posting.objects.unfinished().filter(state__in=(Posting.State.LIVE, Posting.State.CLOSED)).order_by()
    last = posted.values("round__name").annotate(last=Max(Coalesce("seen_at", "posted_at", "created_at")))
    overdue = last.filter(last__lt=clock.now() - patience).order_by("last")
    return list(overdue.values_list("round__name", "last"))


def _post(round: Round, hit: HIT | None, missing: int) -> int:
    """Post answer sets of a HIT, or places of the round without one: a round has one posting, which grows once it is
    live."""
    postings = round.postings.filter(hit=hit)
    if missing <= 0 or (hit is None and postings.filter(state=Posting.State.PLANNED).exists()):
        return 0
    most = channels.platform(round.channel).most_assignments if hit else missing
    live = postings.filter(state=Posting.State.LIVE)
    if hit:
        live = live.filter(max_assignments__lte=most - missing)
    if grows := live.first():
        # Counted at once, although the call is made later: the next look must not ask for the same seats.
        Posting.objects.filter(pk=grows.pk).update(max_assignments=F("max_assignments") + missing)
        store_call(Outbox.Call.EXTEND, grows, round=round, **grows.market)
        return missing
    where = {"channel": round.channel, "environment": round.environment}
    for start in range(0, missing, most):
        slots = min(most, missing - start)
        posting = Posting.objects.create(round=round, hit=hit, **where, max_assignments=slots)
        record("planned", posting, actor="posting", slots=slots)
        store_call(Outbox.Call.PUBLISH, posting, round=round, **where)
    return missing


def _by_state(rows: QuerySet, states: type[TextChoices]) -> dict[str, int]:
    counts = dict(rows.order_by().values_list("state").annotate(n=Count("pk")))
    return {state: counts.get(state, 0) for state in states.values}
