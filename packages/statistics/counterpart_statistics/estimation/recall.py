"""The matches of a round and the share of them that was found, each pair once, with intervals. Pure arrays.

A pair that several directions ask is in as many samples of queries, and each speaks for its part of it: no pair counts
twice, whichever of its queries were audited. Formula numbers are those of docs/estimation.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.audits import STOP_RECALL

FEWEST = 3
"""Audited queries of a direction below which an interval cannot be computed."""
PSEUDO = 2.0
"""Queries of the informative size that are added to a sum of squares: few queries rarely show the largest deviation."""
UNSEEN = 0.02
"""Weight, in the informative size, of one deviation as large as the bounds allow."""
BELOW = 0.03
"""How far below the wanted recall its interval may start where batches stop: replays that asked the estimate alone
stopped once in 80 rounds at 0.86 instead of 0.95."""

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
        counted: whether every query was, so that the figures have no interval.
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

    def is_enough(self, recall: float = STOP_RECALL, lower: float | None = None) -> bool:
        """Return whether batches of likely matches may stop: at this recall, with an interval that starts at ``lower``
        (default: ``BELOW`` it)."""
        least = recall - BELOW if lower is None else lower
        return self.value >= recall and self.low >= least - 1e-12

    def row(self) -> dict[str, float]:
        """Return it as JSON has it."""
        names = ("matches", "matches_low", "matches_high")
        return {name: round(getattr(self, name), 1) for name in names} | {
            "recall": self.value,
            "recall_low": self.low,
            "recall_high": self.high,
        }


def round_recall(sides: Sequence[Side], found: int, *, level: float = 0.95) -> Recall:
    """Return the matches and the recall of a round (formula 14).

    The total is Σ over the directions of expected + Σ off / a, and unbiased over the draw of the audits for any p that
    no label of the query itself decided. What is missing, total - found, has an interval from its standard error below
    and the score interval of a count above: an audit in which no match is missing does not say that all are found.

    Args:
        sides: the directions that were asked.
        found: matches among all pairs with a verdict, each once.
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
        added = PSEUDO / len(sides) * informative_square(around, np.sqrt(missed.mean()))
        variance += float((around**2).sum() + added) * n / (n - 1)
        unit = max(unit, float(weight.max()) - 1)
        informative += float(informative_count(around))
    missing = max(total - found, 0.0)
    low, high = _missing(missing, variance, unit, audited - len(sides), level)
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
        counted=not variance,
    )


def _missing(missing: float, variance: float, unit: float, degrees: int, level: float) -> tuple[float, float]:
    """Return the ends of the interval of the missing matches, whole numbers; ``unit``: what one match more in a query
    of the audit would add."""
    # scipy.stats takes a third of a second to import, for which pages that estimate nothing need not wait.
    from scipy.stats import t as student

    if not variance:
        return missing, missing
    reach = float(student.ppf((1 + level) / 2, degrees))
    scale = reach**2 * variance / (missing + unit)
    low = max(missing - reach * np.sqrt(variance), 0.0)
    high = missing + scale / 2 + np.sqrt(scale * missing + scale**2 / 4)
    return float(np.floor(low)), float(np.ceil(high))


def informative_square(sizes: Floats, bound: float | Floats, unseen: float | Floats = UNSEEN) -> Floats:
    """Return (...): the squared size of the informative deviations (..., n), above 0 even without any, as one of size
    ``bound`` is counted with the weight ``unseen``."""
    squares = sizes**2
    return np.asarray(((squares**2).sum(-1) + unseen * bound**4) / (squares.sum(-1) + unseen * bound**2))


def informative_count(sizes: Floats) -> Floats:
    """Return (...): (Σ u²)² / Σ u⁴, over how many of the n deviations (..., n) their sum of squares spreads.

    >>> float(informative_count(np.array([0.5, -0.5, 0.0])))
    2.0
    """
    squares = np.where(np.abs(sizes) > 1e-9, sizes, 0.0) ** 2
    fourth = (squares**2).sum(-1)
    return np.asarray(np.where(fourth > 0, squares.sum(-1) ** 2 / np.where(fourth > 0, fourth, 1.0), 0.0))
