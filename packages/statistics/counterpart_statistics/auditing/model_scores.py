"""Scores of a pool's models from the queries that were judged whole, their intervals, and guards of counted scores."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import scipy

from counterpart_statistics.estimation import (
    METRICS,
    Estimate,
    Guard,
    estimate,
    guard_report,
    pool_metrics,
    width_ratio,
    worst_interval,
)
from counterpart_statistics.selection.pooled_queries import Floats, WholeQueries

USUAL = METRICS[:3]
FEW = 60
"""Audited queries below which intervals were measured to hold the truth less often than they say."""


@dataclass(frozen=True)
class ModelEstimate:
    """One model's score in one direction.

    Attributes:
        counted: every query was judged, so that the value is exact; its interval is that of the draw of queries.
        judged: share of the direction's pairs to ask that were judged, those of audited queries.
        missing: drawn queries without all verdicts; low and high then hold whatever verdicts they will get.
        own_asked: whether the model's own first items were asked. Where they were not, those that no annotator found
            count as no match.
    """

    model: str
    metric: str
    direction: str
    estimate: Estimate
    counted: bool
    judged: float
    missing: int
    own_asked: bool

    def row(self) -> dict[str, object]:
        """Return it as a table has it."""
        one = self.estimate
        return {
            "model": self.model,
            "metric": self.metric,
            "direction": str(self.direction),
            "value": one.value,
            "low": one.low,
            "high": one.high,
            "n_audited": one.n_audited,
            "judged": self.judged,
            "missing": self.missing,
            "own_asked": self.own_asked,
            "kind": "counted" if self.counted else "estimated",
            "estimand": one.estimand,
        }


@dataclass(frozen=True)
class ModelDifference:
    """By how much one model's score is above the next one's in the order of their values."""

    model: str
    following: str
    metric: str
    direction: str
    estimate: Estimate

    @property
    def is_open(self) -> bool:
        """Whether the interval holds 0, so that the order of the two is not known."""
        return self.estimate.low <= 0 <= self.estimate.high

    def row(self) -> dict[str, object]:
        """Return it as a table has it."""
        one = self.estimate
        return {
            "model": self.model,
            "following": self.following,
            "metric": self.metric,
            "direction": str(self.direction),
            "difference": one.value,
            "low": one.low,
            "high": one.high,
        }


@dataclass(frozen=True)
class ModelGuard:
    """One model's score with unjudged pairs as no matches, ``benchmark``, and what the audit says of it."""

    estimate: ModelEstimate
    benchmark: float
    guard: Guard

    def row(self) -> dict[str, object]:
        """Return it as a table has it."""
        return {
            "model": self.estimate.model,
            "metric": self.estimate.metric,
            "direction": str(self.estimate.direction),
            "benchmark": self.benchmark,
            "estimate": self.estimate.estimate.value,
            "low": self.estimate.estimate.low,
            "high": self.estimate.estimate.high,
            "deviation": self.guard.deviation,
            "z": self.guard.z,
            "flagged": self.guard.flagged,
        }


def model_guards(whole: WholeQueries, estimates: Sequence[ModelEstimate]) -> list[ModelGuard]:
    """Return the guard of each estimate of a direction; nothing for a round without batches of likely matches, as no
    score that counts its verdicts means anything without an audit."""
    if not whole.opened.any():
        return []
    scores = pool_metrics(whole.queries.ranks, np.nan_to_num(whole.queries.gains)).mean(axis=2)
    found = []
    for scored in estimates:
        benchmark = float(scores[METRICS.index(scored.metric), whole.queries.models.index(scored.model)])
        (guard,) = guard_report([benchmark], [scored.estimate])
        found.append(ModelGuard(scored, benchmark, guard))
    return found


@dataclass(frozen=True)
class Width:
    """The width of a model's interval at a look, and the one that is predicted there for the finished audit."""

    model: str
    metric: str
    now: float
    finished: float


def model_estimates(whole: WholeQueries, metrics: Sequence[str] = USUAL, level: float = 0.95) -> list[ModelEstimate]:
    """Return the score of each model and metric."""
    queries = whole.queries
    audited = whole.audited
    drawn = whole.drawn
    judged = (queries.asked & audited[:, None]).sum() / max(queries.asked.sum(), 1)
    return [
        ModelEstimate(
            model,
            metric,
            whole.direction,
            _estimated(whole, whole.metrics[cell], whole.proxy[cell], 0.0, level),
            counted=bool(audited.all()),
            judged=float(judged),
            missing=int((drawn & ~audited).sum()),
            own_asked=model in whole.asked_of,
        )
        for number, model in enumerate(queries.models)
        for metric in metrics
        for cell in [(METRICS.index(metric), number)]
    ]


def _estimated(whole: WholeQueries, metric: Floats, proxy: Floats, lowest: float, level: float) -> Estimate:
    """Return the estimate of a metric (Q,) between ``lowest`` and 1 from the complete queries. If drawn queries still
    miss verdicts, the interval holds whatever these will be."""
    audited = whole.audited
    found = estimate(metric, proxy, audited, audited.mean(), bounds=(lowest, 1.0), level=level, estimand=whole.estimand)
    low = found.low
    high = found.high
    if (whole.drawn & ~audited).any():
        low, high = worst_interval(
            metric, proxy, whole.drawn, audited, queries="like", bounds=(lowest, 1.0), level=level
        )
    return replace(found, low=min(low, found.value), high=max(high, found.value))


def model_differences(
    whole: WholeQueries, metrics: Sequence[str] = USUAL, level: float = 0.95
) -> list[ModelDifference]:
    """Return the differences of models that follow each other, best first."""
    found = []
    names = whole.queries.models
    audited = whole.audited
    for metric in metrics:
        number = METRICS.index(metric)
        values = whole.metrics[number]
        proxy = whole.proxy[number]
        scores = [estimate(values[model], proxy[model], audited, audited.mean()).value for model in range(len(names))]
        for better, worse in pairwise(np.argsort(np.negative(scores), kind="stable").tolist()):
            difference = _estimated(whole, values[better] - values[worse], proxy[better] - proxy[worse], -1.0, level)
            found.append(ModelDifference(names[better], names[worse], metric, whole.direction, difference))
    return found


def interval_widths(first: WholeQueries, models: Sequence[ModelEstimate], drawn: int, level: float) -> Iterator[Width]:
    """Yield the width of each model's interval, and that after all ``drawn`` queries by the law of audits (formula
    7)."""
    audited = first.audited
    n = int(audited.sum())
    queries = len(audited)
    student, later = (float(scipy.stats.t.ppf((1 + level) / 2, count - 1)) for count in (n, drawn))
    for one in models:
        cell = METRICS.index(one.metric), first.queries.models.index(one.model)
        quality = _quality(first.metrics[cell][audited], first.proxy[cell][audited])
        law = width_ratio(drawn / queries, 1, quality) / width_ratio(n / queries, 1, quality)
        now = one.estimate.high - one.estimate.low
        # The interval at hand may be cut at 0 or 1.
        predicted = 2 * later * one.estimate.error * float(law)
        yield Width(one.model, one.metric, now, now if n == drawn else min(now, predicted))


def _quality(values: Floats, proxy: Floats) -> float:
    """Return ρ², the squared correlation of a metric with its proxy over queries; 0 where one of them does not vary."""
    if not values.std() or not proxy.std():
        return 0.0
    return float(np.corrcoef(values, proxy)[0, 1] ** 2)
