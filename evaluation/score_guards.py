"""The guard of a round that asks likely matches: its scores with unjudged pairs as no matches, beside the audit's."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.estimation import METRICS, Guard, guard_report, pool_metrics
from evaluation.round_estimates import ModelEstimate
from evaluation.whole_queries import WholeQueries


@dataclass(frozen=True)
class ModelGuard:
    """One model's score as a version of the round would count it, ``benchmark``, and what the audit says of it."""

    estimate: ModelEstimate
    benchmark: float
    guard: Guard

    def row(self) -> dict[str, object]:
        """Return what ``estimate`` prints."""
        return {
            "model": self.estimate.model,
            "metric": self.estimate.metric,
            "direction": self.estimate.direction.value,
            "benchmark": self.benchmark,
            "estimate": self.estimate.estimate.value,
            "deviation": self.guard.deviation,
            "z": self.guard.z,
            "flagged": self.guard.flagged,
        }


def model_guards(whole: WholeQueries, estimates: Sequence[ModelEstimate]) -> list[ModelGuard]:
    """Return the guard of each estimate of a direction; nothing for a round without batches of likely matches, as no
    score of its version means anything without an audit."""
    if not whole.opened.any():
        return []
    scores = pool_metrics(whole.queries.ranks, np.nan_to_num(whole.queries.gains)).mean(axis=2)
    found = []
    for one in estimates:
        benchmark = float(scores[METRICS.index(one.metric), whole.queries.models.index(one.model)])
        (guard,) = guard_report([benchmark], [one.estimate])
        found.append(ModelGuard(one, benchmark, guard))
    return found
