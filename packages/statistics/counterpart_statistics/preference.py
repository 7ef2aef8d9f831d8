"""Preferences between rankings: the Bradley-Terry model (ECCV Caption, appendix D.1). Pure arrays."""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from counterpart_metrics.errors import some_of

Values = NDArray[np.float64]
_STEPS = 200
_CLOSE = 1e-12


class Intervals(NamedTuple):
    """(n,) strengths in percent, with the lower and upper ends of their intervals."""

    strengths: Values
    low: Values
    high: Values


def bradley_terry(wins: ArrayLike) -> Values:
    """Return the maximum-likelihood strengths p of the Bradley-Terry model, P(i is preferred to j) = p_i / (p_i + p_j).

    Args:
        wins: (n, n), entry (i, j) the number of preferences of i over j; the diagonal is ignored. A tie may count as
            half a preference each way.

    Returns:
        (n,) strengths in percent: they sum to 100.

    Raises:
        ValueError: for another shape or negative counts; or if the strengths have no finite estimate, because some
            were never preferred to the others (the preferences must lead from each to each).

    >>> bradley_terry([[0, 3], [1, 0]]).round(6).tolist()
    [75.0, 25.0]
    """
    return 100 * _shares(_fit(_checked(wins)))


def bradley_terry_intervals(wins: ArrayLike, *, confidence: float = 0.95) -> Intervals:
    """Return the strengths with intervals from the information matrix: Wald intervals of the logit of each share.

    Every preference counts as independent of the others. Arguments and errors as of ``bradley_terry``; ValueError also
    for a confidence outside 0..1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"Invalid confidence {confidence}: use a number between 0 and 1, such as 0.95.")
    counts = _checked(wins)
    theta = _fit(counts)
    shares = _shares(theta)
    covariance = np.linalg.pinv(_information(counts, theta))
    # logit(share_i) = theta_i - log of the sum over j != i of exp(theta_j); its gradient leads to its variance.
    gradient = -shares[None, :] / (1 - shares[:, None])
    np.fill_diagonal(gradient, 1)
    deviation = np.sqrt(np.einsum("ij,jk,ik->i", gradient, covariance, gradient))
    reach = scipy.stats.norm.ppf((1 + confidence) / 2) * deviation
    odds = scipy.special.logit(shares)
    expit = scipy.special.expit
    return Intervals(100 * shares, 100 * expit(odds - reach), 100 * expit(odds + reach))


def _checked(wins: ArrayLike) -> Values:
    counts = np.array(wins, float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or len(counts) < 2:
        raise ValueError(f"Preferences must be a square matrix of two or more, not one of shape {counts.shape}.")
    np.fill_diagonal(counts, 0)
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise ValueError("Preferences must be counts of 0 or more.")
    parts, part_of = scipy.sparse.csgraph.connected_components(counts > 0, directed=True, connection="strong")
    if parts > 1:
        groups = [np.flatnonzero(part_of == part).tolist() for part in range(parts)]
        raise ValueError(
            f"The strengths have no finite estimate: {parts} groups ({some_of(groups)}) are not preferred to each "
            "other in both directions. Collect more preferences or leave some out."
        )
    return counts


def _fit(counts: Values) -> Values:
    """Return the log-strengths that maximise the likelihood, with mean 0, by Newton's method with step halving."""
    theta = np.zeros(len(counts))
    likelihood = _likelihood(counts, theta)
    for _ in range(_STEPS):
        gradient = (counts - (counts + counts.T) * scipy.special.expit(theta[:, None] - theta)).sum(1)
        step = np.linalg.pinv(_information(counts, theta)) @ gradient
        while (found := _likelihood(counts, theta + step)) < likelihood - _CLOSE * abs(likelihood):
            step /= 2
        theta = theta + step
        likelihood = found
        if np.abs(step).max() < _CLOSE:
            break
    return theta


def _likelihood(counts: Values, theta: Values) -> float:
    return -float((counts * np.logaddexp(0, theta - theta[:, None])).sum())


def _information(counts: Values, theta: Values) -> Values:
    """Return the negative Hessian of the log-likelihood, (n, n); its rows sum to 0."""
    chances = scipy.special.expit(theta[:, None] - theta)
    between = (counts + counts.T) * chances * (1 - chances)
    return np.asarray(np.diag(between.sum(1)) - between)


def _shares(theta: Values) -> Values:
    strengths = np.exp(theta - theta.max())
    return np.asarray(strengths / strengths.sum())
