"""Calibration of the probabilities of levels: Brier scores, and observed shares against predicted ones."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.estimation.probabilities import LOWEST_MATCH

BINS = 10
LEVELS = np.arange(1, 5)
THRESHOLDS = LEVELS[:-1]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bin:
    """Pairs of about the same probability: its mean, the share of matches among them, and the share's 95% interval
    (Wilson) as if the pairs were independent."""

    predicted: float
    observed: float
    low: float
    high: float
    pairs: int


@dataclass(frozen=True)
class Calibration:
    """What labels say of the probabilities of N pairs.

    Attributes:
        matches: share of the pairs at level 1 or 2.
        briers: mean squared error of P(level ≤ 1), P(level ≤ 2) and P(level ≤ 3).
        level_brier: the Brier score of all four levels: the mean of the squared errors' sum, between 0 and 2.
        skill, level_skill: 1 for perfect probabilities of a match, or of the levels; 0 for the shares of the levels
            among these pairs as everybody's probability; NaN where all pairs are alike.
        error: the expected calibration error: mean distance of predicted and observed over the bins. Of few pairs it is
            above 0 by chance alone.
        bins: of a match's probability, by its tenths; fewer where many pairs have the same.
    """

    pairs: int
    matches: float
    briers: tuple[float, float, float]
    level_brier: float
    skill: float
    level_skill: float
    error: float
    bins: tuple[Bin, ...]

    @property
    def brier(self) -> float:
        """Of the probability of a match."""
        return self.briers[LOWEST_MATCH - 1]


def calibration_of(thresholds: ArrayLike, levels: ArrayLike) -> Calibration:
    """Compare probabilities with levels.

    Args:
        thresholds: (N, 3) P(level ≤ 1), P(level ≤ 2), P(level ≤ 3), ascending, learned from the labels of other pairs.
        levels: (N,) 1 to 4. Raises ValueError without any.
    """
    at_most = np.asarray(thresholds, np.float64)
    known = np.asarray(levels)
    if not len(known):
        raise ValueError("Calibration needs at least one pair with a level.")
    is_at_most = known[:, None] <= THRESHOLDS
    is_level = known[:, None] == LEVELS
    match = LOWEST_MATCH - 1
    briers = ((at_most - is_at_most) ** 2).mean(axis=0)
    predicted = np.diff(at_most, axis=1, prepend=0, append=1)
    level_brier = float(((predicted - is_level) ** 2).sum(axis=1).mean())
    share = float(is_at_most[:, match].mean())
    shares = is_level.mean(axis=0)
    bins = reliability(at_most[:, match], is_at_most[:, match])
    return Calibration(
        pairs=len(known),
        matches=share,
        briers=tuple(briers.tolist()),
        level_brier=level_brier,
        skill=_skill(float(briers[match]), share * (1 - share)),
        level_skill=_skill(level_brier, float((shares * (1 - shares)).sum())),
        error=sum(bin_.pairs * abs(bin_.predicted - bin_.observed) for bin_ in bins) / len(known),
        bins=bins,
    )


def reliability(probabilities: Floats, is_match: NDArray[np.bool_]) -> tuple[Bin, ...]:
    """Return the bins of a reliability diagram: about equally many pairs (N,) in each, equal probabilities together."""
    edges = np.unique(np.quantile(probabilities, np.arange(1, BINS) / BINS))
    place = np.searchsorted(edges, probabilities, side="left")
    return tuple(_bin(probabilities[place == number], is_match[place == number]) for number in np.unique(place))


def _bin(probabilities: Floats, is_match: NDArray[np.bool_]) -> Bin:
    # scipy.stats takes a third of a second to import, for which pages that compare nothing need not wait.
    from scipy.stats import binomtest

    interval = binomtest(int(is_match.sum()), len(is_match)).proportion_ci(method="wilson")
    return Bin(float(probabilities.mean()), float(is_match.mean()), interval.low, interval.high, len(is_match))


def _skill(brier: float, of_base_rate: float) -> float:
    return 1 - brier / of_base_rate if of_base_rate else float("nan")
