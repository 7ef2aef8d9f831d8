"""How a round stands on its platform by our own rows: postings, work and calls. Nothing is called for it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.models import CLAIM, Assignment, PlatformState
from crowd.models import Outbox, Posting
from hits.models import Round

PostingState, Call = Posting.State, Outbox.State

LATE_AT_LEAST, LATE_SYNCS = timedelta(minutes=10), 5


@dataclass(frozen=True)
class Overview:
    """Counts of one round. ``postings``, ``work`` and ``calls`` count by state, every state present; ``pending`` answer
    sets are accepted by workers and not yet submitted; ``listed_at`` is when the platform was last read, ``leaves_at``
    when the first live posting expires, ``approves_at`` when undecided work is first approved there."""

    postings: dict[str, int]
    work: dict[str, int]
    calls: dict[str, int]
    pending: int
    listed_at: datetime | None
    leaves_at: datetime | None
    approves_at: datetime | None

    @property
    def waiting(self) -> int:
        """Calls that are still to be made."""
        return self.calls[Call.PENDING] + self.calls[Call.SENDING]

    @property
    def failed(self) -> int:
        """Calls that the platform refused for good, or that were lost too often."""
        return self.calls[Call.FAILED]

    @property
    def standing(self) -> int:
        """Postings that the platform has taken, on the market or off it."""
        return self.postings[PostingState.LIVE] + self.postings[PostingState.CLOSED]


def overview_of(round: Round) -> Overview:
    """Read a round's overview with four queries."""
    postings = Posting.objects.filter(hit__round=round).order_by()
    live = Q(state=PostingState.LIVE)
    facts = postings.aggregate(
        pending=Sum("pending", filter=live), listed_at=Max("seen_at"), leaves_at=Min("expires_at", filter=live),
        **_counts("state", PostingState.values),
    )  # fmt: skip
    work = Assignment.objects.filter(hit__round=round).exclude(external_id="")
    return Overview(
        postings={state: facts[f"n_{state}"] for state in PostingState.values},
        work=_by("platform_state", work, PlatformState.values),
        calls=_by("state", Outbox.objects.filter(round=round), Call.values),
        pending=facts["pending"] or 0,
        listed_at=facts["listed_at"],
        leaves_at=facts["leaves_at"],
        approves_at=work.filter(platform_state=PlatformState.SUBMITTED).aggregate(first=Min("auto_approval_at"))[
            "first"
        ],
    )


def work_to_look_at(round: Round | None = None) -> QuerySet[Assignment]:
    """Submissions (to one round) that came with a problem and that nobody has decided yet."""
    undecided = CLAIM | Q(state=Assignment.State.FLAGGED)
    work = Assignment.objects.exclude(problem="").filter(undecided)
    return work.filter(hit__round=round) if round else work


def late_rounds() -> list[tuple[str, datetime]]:
    """Return the rounds, by name, that something may still come from and whose platform was not read for long, each
    with when it last was. Long is five of the clock's turns, ten minutes at least."""
    patience = max(LATE_AT_LEAST, LATE_SYNCS * timedelta(seconds=settings.SYNC_SECONDS))
    posted = Posting.objects.unfinished().filter(state__in=(PostingState.LIVE, PostingState.CLOSED)).order_by()
    last = posted.values("hit__round__name").annotate(last=Max(Coalesce("seen_at", "posted_at", "created_at")))
    late = last.filter(last__lt=timezone.now() - patience).order_by("last")
    return list(late.values_list("hit__round__name", "last"))


def _counts(field: str, values: list[str]) -> dict[str, Count]:
    return {f"n_{value}": Count("pk", filter=Q(**{field: value})) for value in values}


def _by(field: str, rows: QuerySet, values: list[str]) -> dict[str, int]:
    counts = dict(rows.order_by().values_list(field).annotate(n=Count("pk")))
    return {value: counts.get(value, 0) for value in values}
