"""Guarded scores of a round that asked likely matches: the counted ones, moved as far as its audit can show."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from counterpart_statistics.auditing.model_scores import ModelEstimate, model_estimates, percent
from counterpart_statistics.estimation import METRICS, pool_metrics, shrunk
from counterpart_statistics.selection.pooled_queries import Floats, WholeQueries


@dataclass(frozen=True)
class ModelGuard:
    """One model's score in one direction.

    Attributes:
        estimate: of the audit, what judging all these queries would say.
        counted: the score with unjudged pairs as no matches, of which only the bias is unknown.
        guarded: between both, not farther from the whole round's score than the counted one in nearly every round.
        weight: of the estimate in it, the same for all models of the metric; 0 where the audit shows no difference.
    """

    estimate: ModelEstimate
    counted: float
    guarded: float
    weight: float

    @property
    def low(self) -> float:
        return min(self.estimate.estimate.low, self.guarded)

    @property
    def high(self) -> float:
        return max(self.estimate.estimate.high, self.guarded)

    def __str__(self) -> str:
        """Say what the score is worth."""
        level = percent(self.estimate.estimate.level)
        if self.weight:
            return (
                f"Counted {self.counted:.3f}, which misses matches; guarded {self.guarded:.3f} ({level}: "
                f"{self.low:.3f} to {self.high:.3f})."
            )
        return (
            f"The audit cannot distinguish the counted score from the whole round's: counted {self.counted:.3f}; the "
            f"whole round would say {self.low:.3f} to {self.high:.3f} ({level})."
        )

    def row(self) -> dict[str, object]:
        """Return it as a table has it."""
        return {
            "model": self.estimate.model,
            "metric": self.estimate.metric,
            "direction": str(self.estimate.direction),
            "counted": self.counted,
            "guarded": self.guarded,
            "low": self.low,
            "high": self.high,
            "estimate": self.estimate.estimate.value,
            "weight": self.weight,
            "question": self.estimate.estimate.question,
            "level": self.estimate.estimate.level,
        }


def model_guards(whole: WholeQueries, estimates: Sequence[ModelEstimate]) -> list[ModelGuard]:
    """Return the guard of each estimate of a direction (formula 15); nothing for a round without batches of likely
    matches, as no score that counts its verdicts means anything without an audit.

    Estimates for queries like these take the intervals of these queries: the others are not in the counted score.
    """
    if not whole.opened.any() or not estimates:
        return []
    metrics = list(dict.fromkeys(one.metric for one in estimates))
    if estimates[0].estimate.question == "like":
        estimates = model_estimates(whole, metrics, estimates[0].estimate.level)
    counted = pool_metrics(whole.queries.ranks, np.nan_to_num(whole.queries.gains)).mean(axis=2)
    return [guard for metric in metrics for guard in _guards_of(whole, metric, counted, estimates)]


def example_guards(guards: Iterable[ModelGuard]) -> Iterator[ModelGuard]:
    """Yield the guard of the best model of each metric and direction, as an example of what the others say."""
    best: dict[tuple[str, str], ModelGuard] = {}
    for one in guards:
        key = one.estimate.direction, one.estimate.metric
        if key not in best or one.counted > best[key].counted:
            best[key] = one
    yield from best.values()


def _guards_of(
    whole: WholeQueries, metric: str, counted: Floats, estimates: Sequence[ModelEstimate]
) -> Iterator[ModelGuard]:
    of_metric = [one for one in estimates if one.metric == metric]
    scores = [counted[METRICS.index(metric), whole.queries.models.index(one.model)] for one in of_metric]
    values, errors = np.array([(one.estimate.value, one.estimate.error) for one in of_metric]).T
    guarded, weight = shrunk(values, errors, scores)
    for one, score, value in zip(of_metric, scores, guarded.tolist(), strict=True):
        yield ModelGuard(one, float(score), value, float(weight))
