"""What reviews correct, and the interval of the share of a round's verdicts that are right.

Each draw takes workers with replacement for the crowd, controls with replacement for the level of its rates (few
different controls are few, however many answers they have), a rate of each set from its beta distribution, one for all
its votes, and a gap and a share of matches from the grid. The points of the grid are stratified, as by chance alone 40
of them would move the ends by two points. The interval holds for a round, not for a filter or a single pair.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtri

from counterpart_statistics.aggregation.crowds import EDGE, RIGHT, WRONG, Crowd, crowd_of, vote_table
from counterpart_statistics.aggregation.posterior import GAP_MEAN, GAPS, SEED, SHARES, Pairs, Part, Posterior
from counterpart_statistics.aggregation.votes import Codes, Floats, by_first

DRAWS = 40  # of workers
INTERVAL = (0.05, 0.95)
WIDE_GAP_MEAN = 0.12  # beforehand
REVIEW_SHIFT = 0.4  # spread beforehand of what reviews add to the logarithm of the odds
REVIEW_SLOPE = 0.3  # and of what they multiply it with
_EACH = 10  # draws of all else for the same workers, in rounds of few sets
_SETS = 20_000  # whose rates are drawn for the same workers, about
_BLOCK = 10  # draws in memory at a time
_NORMAL = ndtri((np.arange(20) + 0.5) / 20)

Correction = tuple[float, float]
"""What is added to the logarithm of the odds that a verdict is right, and what it is multiplied with before."""


def corrected(said: Floats, correction: Correction) -> Floats:
    """Return corrected probabilities that verdicts are right."""
    shift, slope = correction
    right: Floats = expit(shift + slope * _logits(said))
    return right


def correction_by(said: Floats, right: NDArray[np.bool_]) -> tuple[Correction, Floats]:
    """Return the likeliest correction by reviewed verdicts that were drawn at random, and the covariance of its two
    parts: a logistic regression with normal priors about 0 and 1."""
    design = np.stack([np.ones(len(said)), _logits(said)], axis=1)
    precision = 1 / np.array([REVIEW_SHIFT, REVIEW_SLOPE]) ** 2
    usual = np.array([0.0, 1.0])

    def surprise(x: Floats) -> tuple[float, Floats]:
        logits = design @ x
        fit = np.logaddexp(0, logits).sum() - logits[right].sum()
        slope = design.T @ (expit(logits) - right) + precision * (x - usual)
        return float(fit + precision @ (x - usual) ** 2 / 2), slope

    best = minimize(surprise, usual, jac=True, method="BFGS").x
    each = expit(design @ best)
    covariance = np.linalg.inv((design.T * (each * (1 - each))) @ design + np.diag(precision))
    return (float(best[0]), float(best[1])), covariance


def _logits(said: Floats) -> Floats:
    found: Floats = logit(np.clip(said, EDGE, 1 - EDGE))
    return found


@dataclass(frozen=True)
class Judged:
    """Pairs of a sample with their verdicts.

    is_match: (pairs,) the side of each verdict. kept: (pairs,) whether it is counted; ``total`` are counted in all.
    reviewed: places of pairs that were reviewed at random; ``right``: which of their verdicts were found right.
    """

    sample: Part
    is_match: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    total: int
    reviewed: Codes
    right: NDArray[np.bool_]


def interval_of(pairs: Pairs, crowd: Crowd, found: Posterior, judged: Judged) -> tuple[float, float]:
    """Return the 5% and the 95% point of the share of right verdicts, with the chance of their finite number."""
    rng = np.random.default_rng(SEED)
    parts = []
    drawn = _drawn(pairs, crowd, found, rng)
    while draws := list(islice(drawn, _BLOCK)):
        tables, priors = (np.stack(one, axis=-1) for one in zip(*draws, strict=True))
        odds = judged.sample.odds(tables, found.levels) * (priors / (1 - priors))
        said = np.where(judged.is_match[:, None], odds, 1) / (1 + odds)
        for column in said.T:
            parts.append(_share(column, judged, rng))
    means, spreads = np.array(parts).T
    low, high = np.quantile(means[:, None] + spreads[:, None] * _NORMAL, INTERVAL)
    return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))


def _share(said: Floats, judged: Judged, rng: np.random.Generator) -> tuple[float, float]:
    """Return the mean of the probabilities of a draw, and the deviation of the share right by chance."""
    if len(judged.reviewed):
        best, covariance = correction_by(said[judged.reviewed], judged.right)
        shift, slope = rng.multivariate_normal(best, covariance)
        said = corrected(said, (shift, slope))
    said = said[judged.kept]
    return float(said.mean()), float(np.sqrt((said * (1 - said)).mean() / judged.total))


def _drawn(pairs: Pairs, crowd: Crowd, found: Posterior, rng: np.random.Generator) -> Iterator[tuple[Floats, float]]:
    """Yield what a vote of each set adds to the logarithm of the odds of a match, and the share of matches."""
    answers = pairs.answers
    order = answers.worker_order
    own = crowd.counts(answers, *answers.totals)
    taught = [np.maximum(whole - part, 0) for whole, part in zip((found.a, found.b), own, strict=True)]
    sets = by_first((batch.sets for batch in pairs.votes.batches()), len(answers.worker))
    levels = _Levels.of(pairs)
    each = int(np.clip(_SETS // max(len(sets), 1), 1, _EACH))
    points = iter(_grid_points(found.grid, DRAWS * each, rng))
    # Balanced: in all draws together each worker is drawn as often (Davison, Hinkley and Schechtman 1986).
    for drawn in rng.permutation(np.tile(order, DRAWS)).reshape(DRAWS, -1):
        one = crowd_of(answers, np.bincount(drawn, minlength=len(order)).astype(float), crowd)
        a, b = (x + more for x, more in zip(one.counts(answers, *answers.totals), taught, strict=True))
        rates = a / (a + b)
        for gap, share in islice(points, each):
            rates[sets] = rng.beta(a[sets], b[sets])
            by_side = replace(one, easier=one.easier + levels.shift(rng)).by_side(rates)
            yield vote_table(by_side, [gap])[1][:, 0], share


def _grid_points(grid: Floats, n: int, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Draw ``n`` gaps and shares of matches from strata of the grid, with wider gaps beforehand."""
    weights = np.cumsum(grid * np.exp(GAPS / GAP_MEAN - GAPS / WIDE_GAP_MEAN)[:, None])
    strata = (rng.permutation(n) + rng.random(n)) / n
    gaps, shares = np.divmod(np.searchsorted(weights / weights[-1], strata), len(SHARES))
    return list(zip(GAPS[gaps].tolist(), SHARES[shares].tolist(), strict=True))


@dataclass(frozen=True)
class _Levels:
    """``counts``: right and wrong answers to each control, by side and these numbers: (2, controls)."""

    counts: Floats
    side: Codes

    @classmethod
    def of(cls, pairs: Pairs) -> "_Levels":
        places, side = pairs.answers.controls
        right = np.bincount(places, pairs.answers.right, minlength=len(side))
        counts = np.stack([right, np.bincount(places, minlength=len(side)) - right])
        order = np.lexsort((*counts, side))
        return cls(counts[:, order], side[order])

    def shift(self, rng: np.random.Generator) -> Floats:
        """Return by how much controls drawn with replacement are easier on each side."""
        n = len(self.side)
        times = rng.multinomial(n, np.full(n, 1 / max(n, 1)))
        return self._odds(times.astype(float)) - self._odds(np.ones(n))

    def _odds(self, times: Floats) -> Floats:
        right, wrong = (np.bincount(self.side, times * one, minlength=2) for one in self.counts)
        odds: Floats = np.log(right + RIGHT) - np.log(wrong + WRONG)
        return odds
