"""Whether a worker's answers follow an annotator's signal, a rank or a score, beyond what it says of the truth. Pure.

An honest worker says yes with probability σ(a + b logit p), where p is the probability of yes by what all annotators
and the votes of others say of the pair, and a and b are their own strictness and acuity. So a strong annotator, with
whom every good worker agrees, explains nothing more. A follower takes a share of the answers from a threshold on one
signal, and the rest from the same model.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

SHARES = np.array([0.4, 0.7, 0.95])  # of the answers that follow the signal
CUTS = np.linspace(0.2, 0.95, 16)  # quantiles of the worker's signal that are tried as the threshold
CLIP = 0.003
WEAK = 0.1  # penalty of a worker's own acuity, as the answers may be separable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Expected:
    """How probable yes is for a worker who looks at a pair, from what annotators and other votes say of it: a logistic
    regression with an intercept, then ``weights`` of the features."""

    weights: tuple[float, ...]

    @classmethod
    def fitted(cls, features: ArrayLike, yes: ArrayLike, *, penalty: float = 1.0) -> "Expected":
        """Fit answers (N,) of 0 and 1 on features (N, F) by Newton's method, with a ridge penalty but for the
        intercept."""
        table = np.column_stack([np.ones(len(np.asarray(yes))), np.asarray(features, np.float64)])
        said = np.asarray(yes, np.float64)
        ridge = penalty * np.eye(table.shape[1])
        ridge[0, 0] = 1e-6
        weights = np.zeros(table.shape[1])
        for _ in range(25):
            chance = logistic(table @ weights)
            slope = table.T @ (said - chance) - ridge @ weights
            curve = (table * (chance * (1 - chance))[:, None]).T @ table + ridge
            step = np.linalg.solve(curve, slope)
            weights = weights + step
            if np.abs(step).max() < 1e-6:
                break
        return cls(tuple(weights.tolist()))

    def chance(self, features: ArrayLike, *, clip: float = 0.01) -> Floats:
        """Return the probability of yes (N,), at least ``clip`` from 0 and 1, for features (N, F)."""
        table = np.asarray(features, np.float64)
        return logistic(self.weights[0] + table @ np.array(self.weights[1:])).clip(clip, 1 - clip)


def own_chance(yes: Floats, chance: Floats) -> Floats:
    """Return the probability of yes (N,) with the strictness and acuity of the worker who gave the answers (N,);
    ``chance``: as of any worker."""
    logits = np.log(chance / (1 - chance))[:, None]
    return Expected.fitted(logits, yes, penalty=WEAK).chance(logits, clip=CLIP)


@dataclass(frozen=True)
class Ratios:
    """Log likelihood ratios of follower to honest worker: ``constants`` (M,) plus ``weights`` (M, N) of each yes. Each
    of the M alternatives has a ``signal`` and a ``share``."""

    constants: Floats
    weights: Floats
    signal: Ints
    share: Floats

    @classmethod
    def of(cls, signals: Floats, chance: Floats) -> "Ratios":
        cuts = [np.unique(np.quantile(signal, CUTS, method="inverted_cdf")) for signal in signals]
        number = np.repeat(np.arange(len(signals)), [len(cut) for cut in cuts])
        above = (signals[number] >= np.concatenate(cuts)[:, None])[:, None]
        share = SHARES[:, None]
        yes = np.log(1 - share + share * above / chance)
        no = np.log(1 - share + share * ~above / (1 - chance))
        weights = (yes - no).reshape(-1, len(chance))
        return cls(no.sum(axis=2).ravel(), weights, np.repeat(number, len(SHARES)), np.tile(SHARES, len(number)))

    def each(self, yes: Floats) -> Floats:
        """Return (R, M) for rows of answers (R, N)."""
        return np.asarray(yes @ self.weights.T + self.constants)


def separation(signal: ArrayLike, yes: ArrayLike) -> Floats:
    """Return (R,) the areas under the ROC curve of one signal (N,) for rows of answers (R, N); NaN where all are alike.

    >>> separation([1, 2, 2, 3], [[0, 0, 1, 1]]).tolist()
    [0.875]
    """
    from scipy.stats import rankdata  # imported late: it takes a second, for which no page need wait

    said = np.asarray(yes, np.float64)
    positive = said.sum(axis=1)
    both = positive * (said.shape[1] - positive)
    above = said @ rankdata(np.asarray(signal)) - positive * (positive + 1) / 2
    return np.where(both > 0, above / np.where(both > 0, both, 1), np.nan)


def logistic(values: Floats) -> Floats:
    """Return 1 / (1 + e^-values)."""
    return np.asarray(1 / (1 + np.exp(-values)))
