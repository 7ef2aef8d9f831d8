"""Quality of a round and records of its workers: pace, hourly pay, controls, origins, payments and messages."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from time import perf_counter
from typing import Generic, TypeVar

from django.core.cache import cache
from django.db.models import Avg, Count, Q, QuerySet, Sum
from django.utils import timezone

from annotation.models import Assignment, Exclusion, Judgment, Payment, Worker
from annotation.money.wages import Timing, timing_of
from annotation.people.workers import mask_workers
from annotation.work.control_records import ANSWERED_RIGHT, Tally, tallies_of, unretired
from annotation.work.disputes import BY_LEVEL
from crowd.channels import CHANNELS, market_of
from crowd.models import Message
from dataset.models import Aggregation
from evaluation.agreement import alpha_of_counts
from hits.models import Round
from hits.prices import cents
from hits.question import Level

Made = TypeVar("Made")


@dataclass(frozen=True)
class WorkerLine:
    """A worker's work; ``seconds`` is the mean active time of an accepted assignment. ``controls.weight`` says how
    reliable they are."""

    pseudonym: str
    simulated: bool
    submitted: int
    accepted: int
    flagged: int
    excluded: int
    seconds: float | None
    controls: Tally


@dataclass(frozen=True)
class Quality:
    """Figures of a round's submitted work; ``timing`` is of accepted work, ``levels`` counts its judgments of
    candidates, ``alpha`` is Krippendorff's, ordinal, of these (None where no two workers judged a pair)."""

    timing: Timing | None
    dollars_an_hour: Decimal | None
    controls: Tally
    levels: dict[int, int]
    alpha: float | None


SLOW = 0.25  # seconds


@dataclass(frozen=True)
class Kept(Generic[Made]):
    """Figures, and when they were made."""

    figures: Made
    at: datetime

    @property
    def old_since(self) -> datetime | None:
        """When they were made, for figures whose age a page should tell: those over a minute old."""
        return self.at if timezone.now() - self.at >= timedelta(minutes=1) else None


def kept_if_slow(key: str, make: Callable[[], Made]) -> Kept[Made]:
    """Return what ``make`` returns, or what it returned before: what took over SLOW is kept for 20 times as long,
    so that pages that look every few seconds cost a twentieth of a processor, however large a round is."""
    known: Kept[Made] | None = cache.get(key)
    if known is None:
        begun, at = perf_counter(), timezone.now()
        known = Kept(make(), at)
        seconds = perf_counter() - begun
        if seconds > SLOW:
            cache.set(key, known, timeout=20 * seconds)
    return known


def quality_of(round: Round) -> Quality:
    """Return a round's quality, with a constant number of queries."""
    timing = timing_of(round, at_least=1)
    answered = Judgment.objects.filter(assignment__hit__round=round).order_by()
    levels = _levels(answered)
    return Quality(
        timing=timing,
        dollars_an_hour=round.reward * 3600 / Decimal(timing.active) if timing and timing.active else None,
        controls=controls_of(answered),
        levels=levels,
        alpha=_alpha(round, levels),
    )


def verdict_count(aggregation: Aggregation) -> int:
    """Return how many verdicts an aggregation has. Cached: it has others only when it was made again."""
    key = f"verdicts:{aggregation.pk}:{aggregation.at.isoformat()}"
    return int(cache.get_or_set(key, aggregation.verdicts.count, timeout=86_400) or 0)


SORTS = {
    "worker": lambda line: line.pseudonym,
    "submitted": lambda line: -line.submitted,
    "accepted": lambda line: -line.accepted,
    "flagged": lambda line: -line.flagged,
    "excluded": lambda line: -line.excluded,
    "time": lambda line: (line.seconds is None, line.seconds),
    "controls": lambda line: (line.controls.share is None, line.controls.share),
    "quality": lambda line: (line.controls.answered == 0, line.controls.weight, -line.controls.answered),
}
"""Orders of workers: the most work first, then the fastest and the least reliable."""


def workers_of(round: Round, *, sort: str = "submitted") -> list[WorkerLine]:
    """Return the workers of a round, with two queries. Raises KeyError unless ``sort`` is in SORTS."""
    lines = _workers(
        Assignment.objects.with_hit().filter(hit__round=round, submitted_at__isnull=False),
        Judgment.objects.filter(assignment__hit__round=round).order_by(),
    )
    return sorted(sorted(lines, key=SORTS["worker"]), key=SORTS[sort])


def controls_of(judgments: QuerySet[Judgment]) -> Tally:
    """Count the answers to controls among ``judgments``, without retired controls."""
    return Tally(**unretired(judgments).aggregate(answered=Count("pk"), right=Count("pk", filter=ANSWERED_RIGHT)))


def record_of(worker: Worker, round: Round | None = None) -> WorkerLine:
    """Return a worker's work in one round, or in all rounds."""
    submitted = Assignment.objects.with_hit().filter(worker=worker, submitted_at__isnull=False)
    judgments = worker.judgments.order_by()
    if round:
        submitted, judgments = submitted.filter(hit__round=round), judgments.filter(assignment__hit__round=round)
    lines = _workers(submitted, judgments)
    return lines[0] if lines else WorkerLine(worker.pseudonym, worker.simulated, 0, 0, 0, 0, None, Tally())


def _levels(judgments: QuerySet[Judgment]) -> dict[int, int]:
    counting = judgments.filter(item__control=None, assignment__state=Assignment.State.ACCEPTED)
    counts = dict(counting.values_list("level").annotate(n=Count("pk")))
    return {level: counts.get(level, 0) for level in Level.values}


def _alpha(round: Round, levels: dict[int, int]) -> float | None:
    """Return the agreement of workers on candidates. Cached by the counts of levels, as it reads a row a pair."""
    if round.replication == 1:  # nobody else answers a pair
        return None
    key = f"alpha:{round.pk}:{'-'.join(map(str, levels.values()))}"
    known = cache.get(key)
    if known is None:
        candidates = Judgment.objects.counted().of_candidates().filter(assignment__hit__round=round).order_by()
        votes = list(candidates.values("image", "caption").annotate(**BY_LEVEL).values_list(*BY_LEVEL))
        known = alpha_of_counts(votes, Level.values, "ordinal") if votes else float("nan")
        cache.set(key, known, timeout=600)
    return None if known != known else known


def _workers(submitted: QuerySet[Assignment], judgments: QuerySet[Judgment]) -> list[WorkerLine]:
    state = Assignment.State
    rows = list(
        submitted.order_by()
        .values("worker", "worker__pseudonym", "worker__simulated")
        .annotate(
            submitted=Count("pk"),
            accepted=Count("pk", filter=Q(state=state.ACCEPTED)),
            flagged=Count("pk", filter=Q(state=state.FLAGGED)),
            excluded=Count("pk", filter=Q(state=state.EXCLUDED)),
            seconds=Avg("active_seconds", filter=Q(state=state.ACCEPTED)),
        )
    )
    controls = tallies_of(judgments) if rows else {}
    return [
        WorkerLine(
            pseudonym=row["worker__pseudonym"],
            simulated=row["worker__simulated"],
            controls=controls.get(row["worker"], Tally()),
            **{name: row[name] for name in ("submitted", "accepted", "flagged", "excluded", "seconds")},
        )
        for row in rows
    ]


@dataclass(frozen=True)
class InRound:
    """A worker's work in one round; ``owed`` and ``paid`` are US dollars without platform fees."""

    round: str
    submitted: int
    accepted: int
    flagged: int
    excluded: int
    owed: Decimal
    paid: Decimal


@dataclass(frozen=True)
class Sent:
    """A message to a worker, and why it was not delivered (empty if it was)."""

    message: Message
    failure: str


def origins_of(worker: Worker) -> list[str]:
    """Name the environments that a worker came from; for simulated workers, the name of their channel."""
    known = worker.identities.order_by("pk").values_list("channel", "environment")
    return [str(market_of(*place)) if place[0] in CHANNELS else place[0] for place in dict.fromkeys(known)]


def rounds_of(worker: Worker) -> list[InRound]:
    """Return a worker's work and earnings in each round, with two queries."""
    money, nothing = _money_of(worker), (Decimal(0), Decimal(0))
    work = Assignment.objects.without_claims().filter(worker=worker).order_by().values_list("hit__round__name")
    rows = work.annotate(
        submitted=Count("submitted_at"),
        accepted=Count("pk", filter=Q(state=Assignment.State.ACCEPTED)),
        flagged=Count("pk", filter=Q(state=Assignment.State.FLAGGED)),
        excluded=Count("pk", filter=Q(state=Assignment.State.EXCLUDED)),
    )
    named = rows.order_by("hit__round__name")
    return [InRound(name, *counts, *money.get(name, nothing)) for name, *counts in named]  # type: ignore[call-arg]


def messages_to(worker: Worker) -> list[Sent]:
    """Return the messages to a worker, newest first."""
    rows = list(worker.messages.order_by("-pk")[:50])
    failures = mask_workers([row.failure for row in rows])
    return [Sent(row, failure) for row, failure in zip(rows, failures, strict=True)]


def current_exclusion(worker: Worker) -> Exclusion | None:
    """Return the exclusion in force, or None."""
    return worker.exclusions.filter(lifted_at=None).first()


def _money_of(worker: Worker) -> dict[str, tuple[Decimal, Decimal]]:
    """Return the dollars that a worker is owed and was paid, by round name."""
    owed, paid = Sum("amount", filter=Q(state=Payment.State.OWED)), Sum("amount", filter=Q(state=Payment.State.PAID))
    rows = Payment.objects.filter(assignment__worker=worker).order_by().values("round__name")
    return {
        row["round__name"]: (cents(row["owed"] or Decimal(0)), cents(row["paid"] or Decimal(0)))
        for row in rows.annotate(owed=owed, paid=paid)
    }
