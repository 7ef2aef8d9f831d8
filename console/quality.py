"""How well a round is going: pace, pay an hour, controls answered right, who works and what they say."""

from dataclasses import dataclass, field
from decimal import Decimal
from functools import reduce
from operator import or_
from statistics import median

from django.db.models import Avg, Count, Q, QuerySet

from annotation.models import Assignment, Judgment, Worker
from hits.models import Control, Round
from hits.question import RIGHT_LEVELS, Level

MOST_WORKERS = 50

ANSWERED_RIGHT = reduce(
    or_, (Q(item__control__polarity=polarity, level__in=levels) for polarity, levels in RIGHT_LEVELS.items())
)


@dataclass(frozen=True)
class Controls:
    """Gold answers given, and those of them on the right side."""

    answered: int = 0
    right: int = 0

    @property
    def share(self) -> float | None:
        return self.right / self.answered if self.answered else None


@dataclass(frozen=True)
class WorkerLine:
    """One worker's work in one round; ``seconds`` is the mean of an assignment."""

    pseudonym: str
    submitted: int
    accepted: int
    flagged: int
    excluded: int
    seconds: float | None
    controls: Controls


@dataclass(frozen=True)
class Quality:
    """Of all submitted work of a round; ``levels`` counts the answers on candidates that count."""

    median_seconds: float | None
    dollars_an_hour: Decimal | None
    controls: Controls
    levels: dict[int, int]
    suspected: int
    n_workers: int
    workers: list[WorkerLine] = field(default_factory=list)


def quality_of(round: Round) -> Quality:
    """Read a round's quality, with the same number of queries however much was answered."""
    submitted = Assignment.objects.filter(hit__round=round, submitted_at__isnull=False)
    seconds = submitted.values_list("active_seconds", flat=True)
    middle = median([one for one in seconds if one is not None] or [0]) or None
    answered = Judgment.objects.filter(assignment__hit__round=round).order_by()
    return Quality(
        median_seconds=middle,
        dollars_an_hour=round.reward * 3600 / Decimal(middle) if middle else None,
        controls=controls_of(answered),
        levels=_levels(answered),
        suspected=round.controls.filter(state=Control.State.SUSPECTED).count(),
        n_workers=submitted.values("worker").distinct().count(),
        workers=_workers(submitted, answered),
    )


def controls_of(judgments: QuerySet[Judgment]) -> Controls:
    """Count the gold answers among ``judgments``; retired controls do not count."""
    return Controls(**_gold(judgments).aggregate(answered=Count("pk"), right=Count("pk", filter=ANSWERED_RIGHT)))


def record_of(worker: Worker, round: Round | None = None) -> WorkerLine:
    """Return a worker's work in one round, or in all of them together."""
    submitted = Assignment.objects.filter(worker=worker, submitted_at__isnull=False)
    judgments = worker.judgments.order_by()
    if round:
        submitted, judgments = submitted.filter(hit__round=round), judgments.filter(assignment__hit__round=round)
    lines = _workers(submitted, judgments)
    return lines[0] if lines else WorkerLine(worker.pseudonym, 0, 0, 0, 0, None, Controls())


def _gold(judgments: QuerySet[Judgment]) -> QuerySet[Judgment]:
    gold = judgments.filter(item__control__isnull=False)
    return gold.exclude(item__control__state=Control.State.RETIRED)


def _levels(judgments: QuerySet[Judgment]) -> dict[int, int]:
    counting = judgments.filter(item__control=None, assignment__state=Assignment.State.ACCEPTED)
    counts = dict(counting.values_list("level").annotate(n=Count("pk")))
    return {level: counts.get(level, 0) for level in Level.values}


def _workers(submitted: QuerySet[Assignment], judgments: QuerySet[Judgment]) -> list[WorkerLine]:
    """The busiest workers first."""
    state = Assignment.State
    rows = (
        submitted.order_by()
        .values("worker", "worker__pseudonym")
        .annotate(
            submitted=Count("pk"),
            accepted=Count("pk", filter=Q(state=state.ACCEPTED)),
            flagged=Count("pk", filter=Q(state=state.FLAGGED)),
            excluded=Count("pk", filter=Q(state=state.EXCLUDED)),
            seconds=Avg("active_seconds"),
        )
    )
    busiest = list(rows.order_by("-submitted", "worker__pseudonym")[:MOST_WORKERS])
    controls = _controls_by_worker(judgments.filter(worker__in=[row["worker"] for row in busiest]))
    return [
        WorkerLine(
            pseudonym=row["worker__pseudonym"],
            controls=controls.get(row["worker"], Controls()),
            **{name: row[name] for name in ("submitted", "accepted", "flagged", "excluded", "seconds")},
        )
        for row in busiest
    ]


def _controls_by_worker(judgments: QuerySet[Judgment]) -> dict[int, Controls]:
    rows = _gold(judgments).values_list("worker").annotate(Count("pk"), right=Count("pk", filter=ANSWERED_RIGHT))
    return {worker: Controls(answered, right) for worker, answered, right in rows}
