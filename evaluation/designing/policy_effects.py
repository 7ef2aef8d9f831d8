"""What a policy of selection does to the scores of models, beside what it saves: their order, and model bias."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evaluation.analyses import plain
from evaluation.bias import model_bias
from evaluation.correlation import tau_b
from evaluation.designing.what_if import SCORED, ModelScores, Replayed
from mitl.models import Direction

SAVINGS = ("queries", "pairs", "judgments", "hits", "cost", "matches", "recall", "expected_recall")
"""The figures of a replay that say what was asked and found."""


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
class Effect:
    """How far the scores of one metric in one direction are from those of the round as it was run.

    Attributes:
        kind: of the scores, "counted" or "estimated".
        tau: Kendall's tau-b of the order of the models with that of the full round.
        bias: mean of |score - score of the full round| over the models.
        centred: the same once the models' mean is taken off both: what of it changes differences between models.
    """

    metric: str
    direction: Direction
    kind: str
    tau: Spread
    bias: Spread
    centred: Spread

    def row(self) -> dict[str, Any]:
        """Return what ``what_if`` prints."""
        spreads = {name: getattr(self, name).row() for name in ("tau", "bias", "centred")}
        return {"metric": self.metric, "direction": self.direction.value, "kind": self.kind, **spreads}


def savings_of(replays: Sequence[Replayed]) -> dict[str, Spread]:
    """Return what the replays of a policy asked and found."""
    return {name: Spread.of(getattr(one, name) for one in replays) for name in SAVINGS}


def effects_of(replays: Sequence[Replayed]) -> list[Effect]:
    """Return what the policy did to the scores; nothing of estimates where there are none."""
    directions = list(dict.fromkeys(one.direction for one in replays[0].scores))
    kinds = ["counted", *(["estimated"] if replays[0].scores[0].estimated else [])]
    found = []
    for metric in SCORED:
        for direction in directions:
            for kind in kinds:
                each = []
                for replay in replays:
                    scores = [one for one in replay.scores if (one.metric, one.direction) == (metric, direction)]
                    each.append(figures([_value(one, kind) for one in scores], [one.full for one in scores]))
                found.append(Effect(metric, direction, kind, *map(Spread.of, zip(*each, strict=True))))
    return found


def figures(scores: ArrayLike, full: ArrayLike) -> tuple[float, float, float]:
    """Return tau-b, bias and centred bias of scores (M,) beside those of the full round.

    >>> figures([0.25, 0.5, 0.0], [0.5, 0.75, 0.25])
    (1.0, 0.25, 0.0)
    """
    one, other = np.asarray(scores, float), np.asarray(full, float)
    return tau_b(one, other), model_bias(one, other), model_bias(one - one.mean(), other - other.mean())


def policy_row(judge: str, replays: Sequence[Replayed]) -> dict[str, Any]:
    """Return what ``what_if --json`` prints of a policy; the scores are those of the first replay."""
    return plain(
        {
            "judge": judge,
            "replays": len(replays),
            **{name: spread.row() for name, spread in savings_of(replays).items()},
            "effects": [effect.row() for effect in effects_of(replays)],
            "scores": [score_row(one) for one in replays[0].scores],
        }
    )


def score_row(one: ModelScores) -> dict[str, Any]:
    estimate = one.estimated.estimate if one.estimated else None
    return {
        "model": one.model,
        "metric": one.metric,
        "direction": one.direction.value,
        "full": one.full,
        "counted": one.counted,
        "estimated": estimate.value if estimate else None,
        "low": estimate.low if estimate else None,
        "high": estimate.high if estimate else None,
    }


def _value(one: ModelScores, kind: str) -> float:
    if kind == "counted" or one.estimated is None:
        return one.counted
    return one.estimated.estimate.value
