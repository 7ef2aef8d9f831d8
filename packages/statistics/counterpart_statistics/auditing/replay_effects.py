"""The effect of a policy of selection on the scores of models: their order, and model bias."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpart_statistics.auditing.model_guards import ModelGuard, model_guards
from counterpart_statistics.auditing.model_scores import ModelEstimate, model_estimates
from counterpart_statistics.bias import model_bias
from counterpart_statistics.correlation import tau_b
from counterpart_statistics.estimation import METRICS, pool_metrics
from counterpart_statistics.selection.pooled_queries import Floats, WholeQueries


@dataclass(frozen=True)
class ModelScores:
    """One model's score in one direction: by all verdicts, as a version of the replayed round counts it, with unjudged
    pairs as no matches, as it is estimated, and guarded where likely matches were asked; None where it is not."""

    model: str
    metric: str
    direction: str
    full: float
    counted: float
    estimated: ModelEstimate | None
    guarded: ModelGuard | None = None

    def row(self) -> dict[str, Any]:
        """Return it as a table has it."""
        estimate = self.estimated.estimate if self.estimated else None
        return {
            "model": self.model,
            "metric": self.metric,
            "direction": str(self.direction),
            "full": self.full,
            "counted": self.counted,
            "estimated": estimate.value if estimate else None,
            "low": estimate.low if estimate else None,
            "high": estimate.high if estimate else None,
            "guarded": self.guarded.guarded if self.guarded else None,
            "question": estimate.question if estimate else None,
            "level": estimate.level if estimate else None,
        }


@dataclass(frozen=True)
class Spread:
    """A figure's mean over the replays, and its least and greatest value; None where it is undefined."""

    mean: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, values: Iterable[float | Decimal | None]) -> "Spread":
        known = [float(value) for value in values if value is not None and not isnan(value)]
        return cls(float(np.mean(known)), min(known), max(known)) if known else cls(None, None, None)

    def row(self) -> dict[str, float | None]:
        return {"mean": self.mean, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class PolicyEffect:
    """How far the scores of one metric in one direction are from those of the round that was run whole.

    Attributes:
        kind: of the scores, "counted", "estimated" or "guarded".
        tau: Kendall's tau-b of the order of the models with that of the full round.
        bias: mean of |score - score of the full round| over the models.
        centred: the same once the models' mean is taken off both: what of it changes differences between models.
    """

    metric: str
    direction: str
    kind: str
    tau: Spread
    bias: Spread
    centred: Spread

    def row(self) -> dict[str, Any]:
        """Return it as a table has it."""
        spreads = {name: getattr(self, name).row() for name in ("tau", "bias", "centred")}
        return {"metric": self.metric, "direction": str(self.direction), "kind": self.kind, **spreads}


def scores_of(
    full: Iterable[WholeQueries], known: Iterable[WholeQueries], metrics: Sequence[str], *, estimated: bool
) -> Iterator[ModelScores]:
    """Yield the score of each model and metric by all verdicts and by those that are known."""
    for truth, one in zip(full, known, strict=True):
        true = _counted(truth)
        counting = _counted(one)
        estimates = model_estimates(one, metrics) if estimated else []
        by_name = {(found.model, found.metric): found for found in estimates}
        guards = {(guard.estimate.model, guard.estimate.metric): guard for guard in model_guards(one, estimates)}
        for metric in metrics:
            for place, model in enumerate(one.queries.models):
                cell = METRICS.index(metric), place
                found = by_name.get((model, metric))
                values = float(true[cell]), float(counting[cell])
                yield ModelScores(model, metric, one.direction, *values, found, guards.get((model, metric)))


def effects_of(replays: Sequence[Sequence[ModelScores]]) -> list[PolicyEffect]:
    """Return the effects of a policy on the scores of its replays; without estimates, only on counted scores."""
    directions = list(dict.fromkeys(score.direction for score in replays[0]))
    first = replays[0][0]
    kinds = ["counted", *(["estimated"] if first.estimated else []), *(["guarded"] if first.guarded else [])]
    found = []
    for metric in dict.fromkeys(score.metric for score in replays[0]):
        for direction in directions:
            for kind in kinds:
                each = []
                for replay in replays:
                    scores = [score for score in replay if (score.metric, score.direction) == (metric, direction)]
                    each.append(figures([_value(score, kind) for score in scores], [score.full for score in scores]))
                found.append(PolicyEffect(metric, direction, kind, *map(Spread.of, zip(*each, strict=True))))
    return found


def figures(scores: ArrayLike, full: ArrayLike) -> tuple[float, float, float]:
    """Return tau-b, bias and centred bias of scores (M,) against those of the full round.

    >>> figures([0.25, 0.5, 0.0], [0.5, 0.75, 0.25])
    (1.0, 0.25, 0.0)
    """
    one = np.asarray(scores, float)
    other = np.asarray(full, float)
    return tau_b(one, other), model_bias(one, other), model_bias(one - one.mean(), other - other.mean())


def _value(one: ModelScores, kind: str) -> float:
    if kind == "guarded" and one.guarded:
        return one.guarded.guarded
    if kind == "estimated" and one.estimated:
        return one.estimated.estimate.value
    return one.counted


def _counted(whole: WholeQueries) -> Floats:
    """Return (K, M): the scores with unjudged pairs as no matches."""
    return np.asarray(pool_metrics(whole.queries.ranks, np.nan_to_num(whole.queries.gains)).mean(axis=2))
