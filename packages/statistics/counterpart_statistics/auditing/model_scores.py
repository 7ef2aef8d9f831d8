"""Scores of a pool's models from the queries that were judged whole, and their intervals.

An interval answers a question: what judging all queries of the pool would say (``these``), also with the first items of
models outside it (``wide``), or what queries drawn like them would (``like``). Each figure carries its question.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import stdtrit

from counterpart_statistics.estimation import (
    METRICS,
    Estimate,
    Question,
    score_interval,
    worst_interval,
)
from counterpart_statistics.estimation.intervals import FEW
from counterpart_statistics.selection.pooled_queries import Floats, WholeQueries

USUAL = METRICS[:3]
WHICH = {"these": "these queries", "wide": "these queries", "like": "queries drawn like these"}
"""Which queries the interval of each question is for."""
NOT_ASKED = "its own first items were not asked. Where no annotator found them they count as no match."


@dataclass(frozen=True)
class ModelEstimate:
    """One model's score in one direction.

    Attributes:
        counted: every query was judged, so that the value is exact for these queries: only queries like them have an
            interval.
        judged: share of the direction's pairs to ask that were judged, those of audited queries.
        missing: drawn queries without all verdicts; low and high then hold whatever verdicts they will get.
        own_asked: whether the model's own first items were asked. Where they were not, those that no annotator found
            count as no match.
        wide_for: models outside the pool whose first items were asked too.
    """

    model: str
    metric: str
    direction: str
    estimate: Estimate
    counted: bool
    judged: float
    missing: int
    own_asked: bool
    wide_for: tuple[str, ...] = ()

    @property
    def has_interval(self) -> bool:
        return not self.counted or self.estimate.question == "like"

    @property
    def not_asked(self) -> str:
        """The sentence on first items that were not asked; empty if they were."""
        return "" if self.own_asked else f"{self.model}: {NOT_ASKED}"

    @property
    def words(self) -> str:
        """What the figure, and its interval, is of: after the value and a colon."""
        one = self.estimate
        if one.question == "like":
            return f"of queries drawn like these {one.n_queries:,}."
        if self.counted:
            return f"counted: all {one.n_queries:,} queries are judged."
        if one.question == "wide":
            return (
                f"as if the first items of {', '.join(self.wide_for)} were judged in all {one.n_queries:,} queries; "
                f"{one.n_audited:,} are topped up."
            )
        return f"what judging all {one.n_queries:,} queries of the pool would say; {one.n_audited:,} were judged."

    def __str__(self) -> str:
        """Say the figure with its interval, and which question it answers."""
        one = self.estimate
        if not self.has_interval:
            return f"{one.value:.3f}, {self.words}"
        return f"{one.value:.3f} ({percent(one.level)}: {one.low:.3f} to {one.high:.3f}): {self.words}"

    def row(self) -> dict[str, object]:
        """Return it as a table has it."""
        one = self.estimate
        return {
            "model": self.model,
            "metric": self.metric,
            "direction": str(self.direction),
            "value": one.value,
            "low": one.low if self.has_interval else None,
            "high": one.high if self.has_interval else None,
            "question": one.question,
            "level": one.level,
            "n_queries": one.n_queries,
            "n_audited": one.n_audited,
            "informative": one.informative,
            "is_thin": one.is_thin,
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

    @property
    def turned(self) -> "ModelDifference":
        """Itself with the model first that the estimate has above: a line through the differences of the queries may
        give another order than the two values."""
        one = self.estimate
        if one.value >= 0:
            return self
        turned = replace(one, value=-one.value, low=-one.high, high=-one.low)
        return replace(self, model=self.following, following=self.model, estimate=turned)

    def __str__(self) -> str:
        """Say whether one may publish that a model is above the other, and for which queries."""
        if self.turned is not self:
            return str(self.turned)
        one = self.estimate
        interval = f"{percent(one.level)}: {one.low:.3f} to {one.high:.3f}" if one.error else "counted"
        of = WHICH[one.question]
        if self.is_open:
            return f"open: {self.model} or {self.following}, a difference of {one.value:.3f} ({interval}) for {of}"
        return f"{self.model} is above {self.following} by {one.value:.3f} ({interval}) for {of}"

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
            "question": one.question,
            "level": one.level,
            "open": self.is_open,
        }


def wide_for(whole: WholeQueries) -> tuple[str, ...]:
    """Return the models outside the pool whose first items were asked too."""
    return tuple(sorted(whole.asked_of.difference(whole.queries.models[: len(whole.queries.scores)])))


def percent(level: float) -> str:
    """Return a level as it is printed.

    >>> percent(0.95), percent(1 - 0.05 / 3)
    ('95%', '98.33%')
    """
    return f"{100 * level:.4g}%"


def limits_of(models: Sequence[ModelEstimate]) -> list[str]:
    """Return sentences on what limits the intervals of one direction: few queries, or few that differ from what was
    expected."""
    first = models[0].estimate
    if models[0].has_interval and first.n_audited < FEW:
        return [f"Rests on {first.n_audited} queries: judge more queries before you compare."]
    thin = [one for one in models if one.has_interval and one.estimate.is_thin]
    found = list[str]()
    for metric in dict.fromkeys(one.metric for one in thin):
        of = [one for one in thin if one.metric == metric]
        counts = sorted({round(one.estimate.informative) for one in of})
        rests = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
        found.append(
            f"{metric} of {', '.join(one.model for one in of)}: rests on {rests} queries that differ from what was "
            "expected: judge more queries before you compare."
        )
    return found


@dataclass(frozen=True)
class Width:
    """The width of a model's interval at a look, and the one that is predicted there for the finished audit."""

    model: str
    metric: str
    now: float
    finished: float


def model_estimates(
    whole: WholeQueries,
    metrics: Sequence[str] = USUAL,
    level: float = 0.95,
    *,
    queries: Question = "these",
) -> list[ModelEstimate]:
    """Return the score of each model and metric, with the interval of the question."""
    models = whole.queries.models
    numbers = [METRICS.index(metric) for metric in metrics]
    values = whole.metrics[numbers]
    found = _estimates(whole, values, whole.proxy[numbers], 0.0, level, queries)
    audited = whole.audited
    judged = (whole.queries.asked & audited[:, None]).sum() / max(whole.queries.asked.sum(), 1)
    return [
        ModelEstimate(
            model,
            metric,
            whole.direction,
            found[place, number],
            counted=bool(audited.all()),
            judged=float(judged),
            missing=int((whole.drawn & ~audited).sum()),
            own_asked=model in whole.asked_of,
            wide_for=wide_for(whole),
        )
        for number, model in enumerate(models)
        for place, metric in enumerate(metrics)
    ]


def model_differences(
    whole: WholeQueries,
    metrics: Sequence[str] = USUAL,
    level: float = 0.95,
    *,
    queries: Question = "these",
) -> list[ModelDifference]:
    """Return the differences of models that follow each other, best first."""
    names = whole.queries.models
    numbers = [METRICS.index(metric) for metric in metrics]
    values = whole.metrics[numbers]
    proxy = whole.proxy[numbers]
    scores = score_interval(values, proxy, whole.audited).value
    order = np.argsort(-scores, axis=1, kind="stable")[:, :, None]
    steps, guesses = (
        -np.diff(np.take_along_axis(one, np.broadcast_to(order, one.shape), axis=1), axis=1) for one in (values, proxy)
    )
    found = _estimates(whole, steps, guesses, -1.0, level, queries)
    return [
        ModelDifference(names[better], names[worse], metric, whole.direction, found[place, step])
        for place, metric in enumerate(metrics)
        for step, (better, worse) in enumerate(pairwise(order[place, :, 0].tolist()))
    ]


def _estimates(
    whole: WholeQueries, metric: Floats, proxy: Floats, lowest: float, level: float, queries: Question
) -> dict[tuple[int, ...], Estimate]:
    """Return the estimates, by their place, of metrics (..., Q) between ``lowest`` and 1 from the complete queries. If
    drawn queries still miss verdicts, an interval holds whatever these will be."""
    audited = whole.audited
    if not metric.size:
        return {}
    bounds = (lowest, 1.0)
    found = score_interval(metric, proxy, audited, queries=queries, bounds=bounds, level=level)
    if queries == "these" and wide_for(whole):
        found = replace(found, question="wide")
    cells = {cell: Estimate.of(found, cell, estimand=whole.estimand) for cell in np.ndindex(metric.shape[:-1])}
    if not (whole.drawn & ~audited).any():
        return cells
    for cell, one in cells.items():
        low, high = worst_interval(
            metric[cell], proxy[cell], whole.drawn, audited, queries=queries, bounds=bounds, level=level
        )
        cells[cell] = replace(one, low=min(low, one.value), high=max(high, one.value))
    return cells


def interval_widths(first: WholeQueries, models: Sequence[ModelEstimate], drawn: int, level: float) -> Iterator[Width]:
    """Yield the width of each model's interval, and about that after all ``drawn`` queries: the variance of what the
    other queries of the pool would say falls with 1/n - 1/N, that of the draw of the pool's own queries stays."""
    n = int(first.audited.sum())
    queries = len(first.audited)
    left = (1 / drawn - 1 / queries) / (1 / n - 1 / queries) if n < queries else 1.0
    reach = float(stdtrit(drawn - 2, (1 + level) / 2))
    of_these = model_estimates(first, list(dict.fromkeys(one.metric for one in models)), level)
    others = {(one.model, one.metric): one.estimate.error**2 for one in of_these}
    for one in models:
        now = one.estimate.high - one.estimate.low
        variance = one.estimate.error**2 - (1 - left) * others[one.model, one.metric]
        # The interval at hand may be cut at 0 or 1.
        predicted = 2 * reach * float(np.sqrt(max(variance, 0.0)))
        yield Width(one.model, one.metric, now, now if n == drawn else min(now, predicted))
