"""Estimates of a metric's mean from whole queries that were audited, and the interval of each. Pure arrays.

The unit is the query: e_q is an estimate of one query's metric that is unbiased over the choice of the audit, and the
spread of e over queries holds both stages, the draw of the queries and the draw of the audit. The estimators are those
of prediction-powered inference (Angelopoulos et al., PPI++, 2023) with a query as the cluster; formula numbers are
those of docs/estimation.md.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

FEWEST = 2
"""Audited queries below which the spread cannot be estimated."""
SUSPECT = 3.0
"""Standard errors from which a benchmark's deviation from the guarded estimate is flagged."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A mean over queries with its interval.

    Attributes:
        error: standard error.
        beta: how much of the proxy enters; 0 is the plain mean of the audited queries.
        n_audited: queries that were judged whole.
        estimand: what the value is the mean of, for example ``pool of version v1`` or ``wide pool``.
    """

    value: float
    low: float
    high: float
    error: float
    beta: float
    n_audited: int
    estimand: str = ""


def estimate(
    metric: ArrayLike,
    proxy: ArrayLike,
    audited: ArrayLike,
    inclusion: ArrayLike,
    *,
    level: float = 0.95,
    beta: float | None = None,
    estimand: str = "",
) -> Estimate:
    """Return the mean of a metric over all queries, from those that were audited (formula 6).

    e_q = β g_q + c + (A_q / a_q)(M_q - β g_q - c). The interval is valid whatever the proxy is, as long as the
    probabilities of inclusion are true and no label decided which queries were audited; a poor proxy only widens it.

    Args:
        metric: (Q,) M, read where the query was audited.
        proxy: (Q,) g, for example of ``expected_metric``.
        audited: (Q,) whether every pair of the query was judged.
        inclusion: (Q,) or one number: a, the probability that the query was audited.
        level: confidence of the interval, by Student's t with one degree of freedom less than audited queries.
        beta: a weight of the proxy that is fixed beforehand (default: by least squares over the audited queries).

    Raises ValueError for arrays of other shapes, fewer than two audited queries, a metric that is not known for one of
    them, and a probability outside (0, 1].
    """
    return _estimate(_Audit.of(metric, proxy, audited, inclusion), beta, 0.0, level, estimand)


def estimate_difference(
    first: int,
    second: int,
    metric: ArrayLike,
    proxy: ArrayLike,
    audited: ArrayLike,
    inclusion: ArrayLike,
    *,
    level: float = 0.95,
    estimand: str = "",
) -> Estimate:
    """Return by how much one model's metric is above another's: ``estimate`` of their difference, query by query
    (formula 13). Two intervals that overlap do not say that two models are equal; this one does, if it holds 0.

    Args:
        first, second: rows of the two models.
        metric, proxy: (M, Q).
    """
    values = np.asarray(metric, np.float64)
    guesses = np.asarray(proxy, np.float64)
    return estimate(
        values[first] - values[second],
        guesses[first] - guesses[second],
        audited,
        inclusion,
        level=level,
        estimand=estimand,
    )


def estimate_two_phase(
    metric: ArrayLike,
    proxy: ArrayLike,
    slopes: ArrayLike,
    residuals: ArrayLike,
    asked: ArrayLike,
    pair_inclusion: ArrayLike,
    audited: ArrayLike,
    inclusion: ArrayLike,
    *,
    level: float = 0.95,
    beta: float | None = None,
    estimand: str = "",
) -> Estimate:
    """Return the mean of a metric from audited queries and from single pairs of the others (formulas 5 and 9).

    L = g + Σ_j D_j (y_j - p_j) is the metric's linear part; where only some pairs were asked, each counts 1/π times.

    Args:
        metric, proxy, audited, inclusion, level, beta: as in ``estimate``.
        slopes: (Q, J), or (Q, J, T) of several thresholds: D.
        residuals: as ``slopes``: label minus probability, 0 for pairs whose label was known beforehand; read where the
            pair was asked or the query audited.
        asked: (Q, J) whether the pair was drawn by itself.
        pair_inclusion: (Q, J) the probability of that, π; formed by ``pair_inclusion``.
    """
    each = np.asarray(slopes, np.float64) * np.asarray(residuals, np.float64)
    effect = each.sum(axis=2) if each.ndim == 3 else each
    whole = np.asarray(audited, bool)
    drawn = np.asarray(asked, bool) & ~whole[:, None]
    chance = np.asarray(pair_inclusion, np.float64)
    if (drawn & ~((chance > 0) & (chance <= 1))).any():
        raise ValueError("Every pair that was drawn needs a probability of inclusion above 0 and up to 1.")
    weight = np.where(drawn, 1 / np.where(drawn, chance, 1), 0.0)
    known = np.where(drawn | whole[:, None], effect, 0.0)
    linear = np.asarray(proxy, np.float64) + np.where(whole, known.sum(axis=1), (weight * known).sum(axis=1))
    spread = float((weight**2 * (1 - np.where(drawn, chance, 1)) * known**2).sum() / len(linear))
    return _estimate(_Audit.of(metric, linear, audited, inclusion), beta, spread, level, estimand)


@dataclass(frozen=True)
class _Audit:
    """Checked arrays (Q,): the metric (0 where not audited), its proxy, and 1/a where audited, else 0."""

    metric: Floats
    proxy: Floats
    weight: Floats

    @classmethod
    def of(cls, metric: ArrayLike, proxy: ArrayLike, audited: ArrayLike, inclusion: ArrayLike) -> "_Audit":
        values = np.asarray(metric, np.float64)
        guesses = np.asarray(proxy, np.float64)
        whole = np.asarray(audited, bool)
        if not values.shape == guesses.shape == whole.shape or values.ndim != 1:
            raise ValueError(
                f"Metric {values.shape}, proxy {guesses.shape} and audit {whole.shape} must have one shape (queries,)."
            )
        chance = np.broadcast_to(np.asarray(inclusion, np.float64), values.shape)
        if whole.sum() < FEWEST:
            raise ValueError(f"{whole.sum()} queries were audited. An estimate needs at least {FEWEST}.")
        if np.isnan(values[whole]).any():
            raise ValueError(f"{np.isnan(values[whole]).sum()} audited queries have no value: judge all their pairs.")
        if not ((chance[whole] > 0) & (chance[whole] <= 1)).all():
            raise ValueError("Every audited query needs a probability of inclusion above 0 and up to 1.")
        weight = np.where(whole, 1 / np.where(whole, chance, 1.0), 0.0)
        return cls(np.where(whole, values, 0.0), guesses, weight)


def _estimate(audit: _Audit, beta: float | None, pair_variance: float, level: float, estimand: str) -> Estimate:
    if not 0 < level < 1:
        raise ValueError(f"Invalid level {level}: use a probability between 0 and 1.")
    share, constant = _fit(audit, beta, pair_variance)
    guess = share * audit.proxy + constant
    values = guess + audit.weight * (audit.metric - guess)
    n_audited = int((audit.weight > 0).sum())
    value = float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    reach = float(scipy.stats.t.ppf((1 + level) / 2, n_audited - 1)) * error
    return Estimate(value, value - reach, value + reach, error, share, n_audited, estimand)


def _fit(audit: _Audit, beta: float | None, pair_variance: float) -> tuple[float, float]:
    """Return β and c: least squares over the audited queries, weighted as the variance of the second stage is."""
    weight = audit.weight * np.maximum(audit.weight - 1, 0)
    total = weight.sum()
    if total == 0:  # every audited query was certain to be
        return (0.0 if beta is None else beta), 0.0
    proxy_mean = (weight * audit.proxy).sum() / total
    metric_mean = (weight * audit.metric).sum() / total
    if beta is None:
        centred = audit.proxy - proxy_mean
        spread = (weight * centred**2).sum() + len(centred) * pair_variance
        beta = float((weight * centred * (audit.metric - metric_mean)).sum() / spread) if spread > 0 else 0.0
    return beta, float(metric_mean - beta * proxy_mean)


@dataclass(frozen=True)
class Guard:
    """What the audit says of one model's benchmark figure: ``deviation`` is the benchmark's minus the estimate's, ``z``
    counts it in standard errors, and ``flagged`` figures are off by more than chance explains."""

    deviation: float
    z: float
    flagged: bool


def guard_report(benchmark: ArrayLike, estimates: list[Estimate]) -> list[Guard]:
    """Compare each model's figure, (M,) with unjudged pairs as no matches, with its estimate from the audit (formula 12
    gives the proxy: the labels that the selection would have opened in audited queries too).

    >>> guard_report([0.5], [Estimate(0.6, 0.56, 0.64, 0.02, 1.0, 90)])[0].flagged
    True
    """
    figures = np.asarray(benchmark, np.float64)
    if figures.shape != (len(estimates),):
        raise ValueError(f"{len(estimates)} estimates need as many benchmark figures, not {figures.shape}.")
    deviation = figures - [one.value for one in estimates]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.nan_to_num(deviation / [one.error for one in estimates], nan=0.0, posinf=np.inf, neginf=-np.inf)
    return [
        Guard(off, errors, abs(errors) > SUSPECT) for off, errors in zip(deviation.tolist(), z.tolist(), strict=True)
    ]
