"""The matches of a round and the share of them that was found, each pair once, with intervals. Pure arrays.

A pair that several directions ask is in as many samples of queries, and each speaks for its part of it: no pair counts
twice, whichever of its queries were audited. Formula numbers are those of docs/estimation.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from counterpart_statistics.audits import STOP_BELOW, STOP_RECALL
from counterpart_statistics.estimation.intervals import FEWEST, PSEUDO_QUERIES, informative_count, informative_square

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One direction of a round, with its audit of n of N queries.

    Attributes:
        off: (n,) of each audited query, Σ (y - p) / m over its pairs to which the order of likely matches has not come,
            where m directions ask the pair; y is 1 for a match and 0 for none, and p its probability in this direction,
            learned without any label of the query that the order has not come to.
        queries: N.
        expected: Σ z / m over all pairs of all N queries; z is y where the order has come to the pair, else p.
        inclusion: (n,) the probability of each audited query to be one; None: n / N.
    """

    off: ArrayLike
    queries: int
    expected: float
    inclusion: ArrayLike | None = None


@dataclass(frozen=True)
class Recall:
    """The matches of a round and their share among those found, by an audit.

    Attributes:
        found: matches with a verdict.
        matches: of the whole round, with the ends of their interval, whole numbers of matches.
        value: the recall, with the ends of its interval.
        informative: number of audited queries over which the deviations spread; 0 where all are alike.
        n_audited: queries that were judged whole, of all directions.
        counted: whether every query was, or every pair, so that the figures have no interval.
        level: confidence of the intervals.
    """

    found: int
    matches: float
    matches_low: float
    matches_high: float
    value: float
    low: float
    high: float
    informative: float
    n_audited: int
    counted: bool
    level: float

    def is_enough(self, recall: float = STOP_RECALL, lower: float | None = None) -> bool:
        """Return whether batches of likely matches may stop: at this recall, with an interval that starts at ``lower``
        (default: ``STOP_BELOW`` it)."""
        least = recall - STOP_BELOW if lower is None else lower
        return self.value >= recall and self.low >= least - 1e-12

    def row(self) -> dict[str, float | str]:
        """Return it as JSON has it: what judging all queries of the round would say."""
        names = ("matches", "matches_low", "matches_high")
        return {name: round(getattr(self, name), 1) for name in names} | {
            "recall": self.value,
            "recall_low": self.low,
            "recall_high": self.high,
            "question": "these",
            "level": self.level,
        }


def round_recall(sides: Sequence[Side], found: int, *, unjudged: float = inf, level: float = 0.95) -> Recall:
    """Return the matches and the recall of a round (formula 14).

    The total is Σ over the directions of expected + Σ off / a, and unbiased over the draw of the audits for any p that
    no label of the query itself decided. What is missing, total - found, has an interval from its standard error below
    and the score interval of a count above: an audit in which no match is missing does not say that all are found.

    Args:
        sides: the directions that were asked.
        found: matches among all pairs with a verdict, each once.
        unjudged: pairs without one; no more matches can be missing.
        level: confidence of the interval, by Student's t.

    Raises ValueError for a direction with fewer than three audited queries, unless these are all of its queries.
    """
    total = 0.0
    variance = 0.0
    unit = 0.0
    informative = 0.0
    audited = 0
    for side in sides:
        off = np.asarray(side.off, np.float64)
        n = len(off)
        audited += n
        chance = n / side.queries if side.inclusion is None else np.asarray(side.inclusion, np.float64)
        weight = np.broadcast_to(1 / chance, off.shape)
        total += side.expected + float((weight * off).sum())
        missed = weight * (weight - 1)
        if not missed.any():
            continue
        if n < FEWEST:
            raise ValueError(f"{n} queries were audited. An interval of recall needs at least {FEWEST}.")
        around = np.sqrt(missed) * (off - (missed * off).sum() / missed.sum())
        added = PSEUDO_QUERIES / len(sides) * informative_square(around, np.sqrt(missed.mean()))
        variance += float((around**2).sum() + added) * n / (n - 1)
        unit = max(unit, float(weight.max()) - 1)
        informative += float(informative_count(around))
    missing = min(max(total - found, 0.0), unjudged)
    low, high = _missing(missing, variance, unit, audited - len(sides), level) if unjudged else (0.0, 0.0)
    high = min(high, unjudged)
    share_high, value, share_low = (found / (found + one) if found + one else 1.0 for one in (low, missing, high))
    return Recall(
        found,
        found + missing,
        found + low,
        found + high,
        value,
        share_low,
        share_high,
        informative,
        audited,
        counted=not (variance and unjudged),
        level=level,
    )


def _missing(missing: float, variance: float, unit: float, degrees: int, level: float) -> tuple[float, float]:
    """Return the ends of the interval of the missing matches, whole numbers; ``unit``: what one match more in a query
    of the audit would add."""
    if not variance:
        return missing, missing
    reach = float(stdtrit(degrees, (1 + level) / 2))
    scale = reach**2 * variance / (missing + unit)
    low = max(missing - reach * np.sqrt(variance), 0.0)
    high = missing + scale / 2 + np.sqrt(scale * missing + scale**2 / 4)
    return float(np.floor(low)), float(np.ceil(high))
