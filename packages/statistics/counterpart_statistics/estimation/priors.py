"""Labels of a pool without judgments: simulated from assumptions about its pairs."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit

from counterpart_statistics.estimation.probabilities import shift_logits

QUERY_EFFECT = 1.0
"""τ of simulated queries; 0.8 to 1.7 were measured on judged pools."""
FULL = 0.5
"""Share of the simulated matches that are full ones, of gain 1; the others are partial, of gain 0.5."""

Floats = NDArray[np.float64]


def prior_probability(ranks: ArrayLike, asked: ArrayLike, *, top: int, rate: float, rank_effect: float) -> Floats:
    """Return (Q, J): how probable a match is by the annotators' ranks alone; 0 for pairs that are not asked.

    The odds of a match are proportional to (n / r) ** rank_effect, where r is the best rank that an annotator gives the
    pair, and n how many annotators rank it among the first ``top``: logit p = μ + rank_effect (ln n - ln r), with the μ
    that makes the mean over the asked pairs ``rate``. On four judged pools the effect was 0.3 to 1.0.

    Args:
        ranks: (A, Q, J) of the annotators, from 1.
        asked: (Q, J), whether a round of all pairs would ask the pair.
        top: places of each list that were pooled.
        rate: expected share of the asked pairs that match, above 0 and below 1.
        rank_effect: how well ranks predict matches; 0: not at all.

    >>> prior_probability([[[1, 4]]], [[True, True]], top=5, rate=0.5, rank_effect=1.0).round(2)
    array([[0.67, 0.33]])
    """
    places = np.asarray(ranks, np.float64)
    chosen = np.asarray(asked, bool)
    proposing = np.maximum((places <= top).sum(axis=0), 1)
    advantage = rank_effect * (np.log(proposing) - np.log(places.min(axis=0)))
    if not chosen.any():
        return np.zeros(chosen.shape)

    def excess(level: float) -> float:
        return float(expit(level + advantage[chosen]).mean() - rate)

    reach = float(np.abs(advantage[chosen]).max()) + 50.0
    return np.where(chosen, expit(brentq(excess, -reach, reach) + advantage), 0.0)


def simulated_gains(probabilities: ArrayLike, known: ArrayLike, *, tau: float = QUERY_EFFECT, seed: int = 0) -> Floats:
    """Return gains (Q, J) of pairs that match with these probabilities; those of known pairs are as known.

    The pairs of a query share a normal shift of their logits, of spread ``tau``: queries are easy or hard.

    Args:
        probabilities: (Q, J).
        known: (Q, J) gains of pairs that cost no judgment, NaN for the others.
    """
    p = np.clip(np.asarray(probabilities, np.float64), 1e-9, 1 - 1e-9)
    labels = np.asarray(known, np.float64)
    rng = np.random.default_rng(seed)
    shifted = shift_logits(p, tau, tau * rng.standard_normal((len(p), 1)))
    gains = (rng.random(p.shape) < shifted) * np.where(rng.random(p.shape) < FULL, 1.0, 0.5)
    return np.where(np.isnan(labels), gains, labels)
