"""Live estimates: an audit's scores at looks that were fixed in advance, and what a stop at the last one saves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from hashlib import sha256
from math import ceil
from typing import Annotated

import numpy as np
import scipy
from django import forms
from django.db.models import Count, F, Max, QuerySet, Sum
from numpy.typing import NDArray

from annotation.models import Assignment, Judgment, Payment
from core.errors import CounterpartError
from core.progress import Progress, silent, tracked
from core.version import software_version
from evaluation.asking.likely_matches import LikelyMatches
from evaluation.auditing.asked_pairs import waiting_hits
from evaluation.auditing.round_estimates import (
    EstimateParameters,
    ModelDifference,
    ModelEstimate,
    ScoreParameters,
    model_differences,
    model_estimates,
)
from evaluation.auditing.score_guards import ModelGuard, model_guards
from evaluation.auditing.whole_queries import WholeQueries, whole_queries
from evaluation.estimation import METRICS, width_ratio
from evaluation.live_effect import Saving, waiting_pairs
from hits.judge_designs import JudgeDesign
from hits.models import Round, Seat
from hits.prices import cents
from hits.task_types import require_pairs
from mitl.models import Direction


@dataclass(frozen=True, kw_only=True)
class LiveParameters(ScoreParameters):
    """What is estimated at each look, and how many looks there are."""

    looks: Annotated[
        int,
        forms.IntegerField(
            min_value=1, help_text="number of looks, evenly spread over the drawn queries; fix it before the first"
        ),
    ] = 5

    @property
    def of_a_look(self) -> EstimateParameters:
        """What is estimated at each look. Raises CounterpartError for an unknown metric."""
        return EstimateParameters(metric=self.metric, merge=self.merge, confidence=self.confidence, looks=self.looks)


Models = tuple[ModelEstimate, ...]


@dataclass(frozen=True)
class Width:
    """The width of a model's interval at a look, and the one that is predicted there for the finished audit."""

    model: str
    metric: str
    now: float
    finished: float


@dataclass(frozen=True)
class LiveLook:
    """One look at a direction: after the first queries of the audit's order, all judged whole.

    Attributes:
        number: from 1.
        queries: that were judged whole, and ``share`` of the drawn ones, in 0..1.
        at: when the last of their answers was submitted; None where no answer was needed.
        hits, answer_sets: accepted HITs and answer sets of the round that were submitted until then, of all directions.
        dollars: what the work submitted until then has earned, bonuses and fees included.
        widths: of the intervals of ``models``, in their order.
        inputs: SHA-256 of what the estimates follow from.
    """

    number: int
    queries: int
    share: float
    at: datetime | None
    hits: int
    answer_sets: int
    dollars: Decimal
    models: Models
    differences: tuple[ModelDifference, ...]
    widths: tuple[Width, ...]
    inputs: str

    def widest(self, metric: str) -> Width:
        """Return the metric's widest interval."""
        return max((one for one in self.widths if one.metric == metric), key=lambda one: one.now)


@dataclass(frozen=True)
class LiveDirection:
    """What an audit says so far of one direction.

    Attributes:
        drawn: queries that the audit drew.
        whole: queries from the beginning of its order that are judged whole without a gap.
        waiting: queries that are judged whole and come after one that is not; they count once it is judged.
        planned: queries at each of the looks, whether reached or not, ascending.
        looks: those that are reached.
    """

    direction: Direction
    drawn: int
    whole: int
    waiting: int
    planned: tuple[int, ...]
    looks: tuple[LiveLook, ...]

    @property
    def last(self) -> LiveLook | None:
        return self.looks[-1] if self.looks else None

    @property
    def next_look(self) -> int | None:
        """Queries at the next look; None after the last one."""
        return self.planned[len(self.looks)] if len(self.looks) < len(self.planned) else None


@dataclass(frozen=True)
class LiveEstimates:
    """An audit at its looks, by direction.

    Attributes:
        saving: what closing it now saves; None unless it is open.
        likely: the pairs by their probability, where likely matches follow the audit or have followed; else None.
        guards: where they have, what the last look of each direction says of the scores of a version.
    """

    round: Round
    parameters: LiveParameters
    directions: tuple[LiveDirection, ...]
    saving: Saving | None
    likely: LikelyMatches | None
    guards: tuple[ModelGuard, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        return self.parameters.metrics

    @property
    def looks(self) -> tuple[LiveLook, ...]:
        """The looks that are reached, of all directions."""
        return tuple(look for one in self.directions for look in one.looks)

    @property
    def is_finished(self) -> bool:
        return all(one.next_look is None for one in self.directions)


def measure_live(
    round: Round,
    parameters: LiveParameters | None = None,
    *,
    known: Iterable[LiveLook] = (),
    progress: Progress = silent,
) -> LiveEstimates:
    """Return what an audit told at each look that it has reached, whether it is open or closed.

    Look j of K comes when the first ⌈j/K · n⌉ of the n drawn queries are judged whole, in the random order in which
    they were drawn: they are a smaller audit. The order in which queries are *finished* is not random, as those with
    many pairs take longer, so those that come after an unfinished one wait. An interval holds at all looks together,
    by Bonferroni's inequality.

    ``known``: looks as they were returned before; what was estimated from the same inputs is not estimated again.
    Raises CounterpartError for a round that is no audit, and as ``estimate_round`` does.
    """
    require_pairs(round)
    given = parameters or LiveParameters()
    design = JudgeDesign.from_json(round.summary.get("judge"))
    if design.judge == "all":
        raise CounterpartError(
            f"Round {round} asks all pairs: no draw says which queries come first, so it has no looks. Once it is "
            "finished, `estimate` counts it."
        )
    late = _half_judged(round) if round.state == "open" else []
    before = {look.inputs: look for look in known}
    wholes = list(whole_queries(round, merge=given.merge, progress=progress))
    found = [
        _Side(whole, {pair[_side_of(whole.direction)] for pair in late}, given, before).looked_at(progress)
        for whole in wholes
    ]
    saving = saving_now(round) if round.state == "open" else None
    guards = [
        guard
        for whole, side in zip(wholes, found, strict=True)
        if side.last
        for guard in model_guards(whole, side.last.models)
    ]
    follow = design.greedy or guards
    likely = LikelyMatches.of(wholes, stop_recall=design.stop_recall) if follow else None
    return LiveEstimates(round, given, tuple(found), saving, likely, tuple(guards))


def saving_now(round: Round) -> Saving:
    """Return what closing an open round now saves: the answer sets that nobody has begun, and their cost."""
    open_seats = Seat.objects.filter(round=round, state=Seat.State.OPEN)
    counts = open_seats.aggregate(sets=Count("pk"), hits=Count("hit", distinct=True))
    # A visitor of a platform has no seat before the platform confirms them.
    seatless = Assignment.objects.filter(hit__round=round, state=Assignment.State.LEASED, seat=None, has_hit=True)
    sets = max(counts["sets"] - seatless.count(), 0)
    return Saving(min(counts["hits"], sets), sets, round.seat_cost * sets)


def _half_judged(round: Round) -> list[tuple[str, str]]:
    """Return the pairs (keys of image and caption) that have a verdict and lack a wanted vote, which may change it."""
    judged = _judgments(round).values_list("image_id", "caption_id", "image__key", "caption__key").distinct()
    waiting = waiting_pairs(round)
    return [(image_key, caption_key) for *pair, image_key, caption_key in judged if tuple(pair) in waiting]


def _judgments(round: Round) -> QuerySet[Judgment]:
    """Return the judgments that ``whole_queries`` counts."""
    counted = Judgment.objects.counted().of_candidates().filter(assignment__hit__round=round).order_by()
    return counted.exclude(assignment__hit__number__in=waiting_hits(round))


def _side_of(direction: Direction) -> int:
    """Return the place of the query in a pair of image and caption."""
    return 0 if direction == Direction.IMAGE_TO_CAPTION else 1


@dataclass(frozen=True)
class _Side:
    """One direction of the audit; votes are still wanted on queries that are ``late``."""

    whole: WholeQueries
    late: set[str]
    given: LiveParameters
    known: Mapping[str, LiveLook]

    def looked_at(self, progress: Progress) -> LiveDirection:
        planned = look_sizes(len(self.order), self.given.looks)
        gap = np.flatnonzero(~self.done)
        whole = int(gap[0]) if len(gap) else len(self.done)
        reached = [size for size in planned if size <= whole]
        steps = tracked(list(enumerate(reached, 1)), "looks", progress, every=1)
        looks = tuple(self._look(number, size) for number, size in steps)
        waiting = int(self.done[whole:].sum())
        return LiveDirection(self.whole.direction, len(self.order), whole, waiting, planned, looks)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """(n,) rows of the drawn queries, in the order of the audit."""
        rows = np.flatnonzero(self.whole.drawn)
        return rows[np.argsort(self.whole.place[rows], kind="stable")]

    @cached_property
    def done(self) -> NDArray[np.bool_]:
        """(n,) whether the drawn queries have every wanted verdict, in that order."""
        on_time = np.array([key not in self.late for key in self.whole.queries.keys], bool)
        return np.asarray((self.whole.audited & on_time)[self.order])

    @cached_property
    def times(self) -> dict[str, datetime]:
        """When the last counted answer on the pairs of a query was submitted, by its key."""
        key = ("image__key", "caption__key")[_side_of(self.whole.direction)]
        # A look waits for no answer on a caption's own image, which is known to match.
        needed = _judgments(self.whole.round).exclude(image=F("caption__image"))
        return dict(needed.values_list(key).annotate(at=Max("assignment__submitted_at")))

    def _look(self, number: int, size: int) -> LiveLook:
        keys = [self.whole.queries.keys[row] for row in self.order[:size].tolist()]
        at = max((self.times[key] for key in keys if self.times.get(key)), default=None)
        first = self.whole.first(size)
        inputs = self._inputs(first)
        known = self.known.get(inputs)
        told = (known.models, known.differences, known.widths) if known else self._told(first)
        return LiveLook(number, size, size / len(self.order), at, *_spent(self.whole.round, at), *told, inputs)

    def _told(self, first: WholeQueries) -> tuple[Models, tuple[ModelDifference, ...], tuple[Width, ...]]:
        parameters = self.given.of_a_look
        models = tuple(model_estimates(first, parameters))
        widths = tuple(_widths(first, models, len(self.order), parameters.level))
        return models, tuple(model_differences(first, parameters)), widths

    def _inputs(self, first: WholeQueries) -> str:
        """Return the SHA-256 of all that the estimates from the first queries follow from."""
        queries = first.queries
        names = (self.given.as_json(), first.estimand, first.direction, queries.models, sorted(first.asked_of))
        digest = sha256(repr((software_version(), first.round.seed, len(self.order), queries.depth, names)).encode())
        gains = np.where(first.drawn[:, None], queries.gains, 0.0)
        for array in (queries.ranks, queries.scores, queries.known, queries.images, first.place, first.opened, gains):
            digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def look_sizes(drawn: int, looks: int) -> tuple[int, ...]:
    """Return the numbers of queries at the looks; where the audit is small, some looks fall together.

    >>> look_sizes(14, 4), look_sizes(3, 5)
    ((4, 7, 11, 14), (2, 3))
    """
    return tuple(sorted({max(ceil(number * drawn / looks), 2) for number in range(1, looks + 1)}))


def _spent(round: Round, at: datetime | None) -> tuple[int, int, Decimal]:
    """Return HITs, answer sets and US dollars of the work that was submitted until then."""
    if at is None:
        return 0, 0, Decimal("0.00")
    accepted = Assignment.objects.filter(
        hit__round=round, state=Assignment.State.ACCEPTED, seat__isnull=False, submitted_at__lte=at
    ).aggregate(sets=Count("pk"), hits=Count("hit", distinct=True))
    earned = Payment.objects.filter(round=round, state__in=Payment.EARNED, assignment__submitted_at__lte=at)
    dollars = earned.aggregate(sum=Sum(F("amount") + F("fee")))["sum"] or Decimal(0)
    return accepted["hits"], accepted["sets"], cents(dollars)


def _widths(first: WholeQueries, models: Sequence[ModelEstimate], drawn: int, level: float) -> Iterator[Width]:
    """Yield the width of each interval, and that after all ``drawn`` queries by the law of audits (formula 7)."""
    audited = first.audited
    n, queries = int(audited.sum()), len(audited)
    student, later = (float(scipy.stats.t.ppf((1 + level) / 2, count - 1)) for count in (n, drawn))
    for one in models:
        cell = METRICS.index(one.metric), first.queries.models.index(one.model)
        quality = _quality(first.metrics[cell][audited], first.proxy[cell][audited])
        law = width_ratio(drawn / queries, 1, quality) / width_ratio(n / queries, 1, quality)
        now = one.estimate.high - one.estimate.low
        # The interval at hand may be cut at 0 or 1.
        predicted = 2 * later * one.estimate.error * float(law)
        yield Width(one.model, one.metric, now, now if n == drawn else min(now, predicted))


def _quality(values: NDArray[np.float64], proxy: NDArray[np.float64]) -> float:
    """Return ρ², the squared correlation of a metric with its proxy over queries; 0 where one of them does not vary."""
    if not values.std() or not proxy.std():
        return 0.0
    return float(np.corrcoef(values, proxy)[0, 1] ** 2)
