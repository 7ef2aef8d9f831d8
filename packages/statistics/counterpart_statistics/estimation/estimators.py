"""Estimates of one metric's mean from whole queries that were audited, or from single pairs too. Pure arrays.

The unit is the query: e_q is an estimate of one query's metric that is unbiased over the choice of the audit. The
estimators are those of prediction-powered inference (Angelopoulos et al., PPI++, 2023) with a query as the cluster;
formula numbers are those of docs/estimation.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from counterpart_statistics.estimation.intervals import (
    FEW,
    FEWEST_INFORMATIVE,
    Bounds,
    Interval,
    Line,
    audited_values,
    chances_of,
    score_interval,
)

SUSPECT = 3.0
"""Standard errors from which a benchmark's deviation from the guarded estimate is flagged."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A mean over queries with its interval: one cell of an ``Interval``.

    Attributes:
        error: standard error.
        beta: how much of the proxy enters; 0 is the plain mean of the audited queries.
        n_audited: queries that were judged whole.
        estimand: what the value is the mean of, for example ``pool of version v1`` or ``wide pool``.
        question: ``these``, ``like`` or ``wide``, as of an ``Interval``.
        level: confidence of the interval.
        informative: effective number of audited queries that carry it.
        n_queries: of which ``n_audited`` were judged whole.
    """

    value: float
    low: float
    high: float
    error: float
    beta: float
    n_audited: int
    estimand: str = ""
    question: str = "like"
    level: float = 0.95
    informative: float = np.inf
    n_queries: int = 0

    @classmethod
    def of(cls, found: Interval, cell: tuple[int, ...] = (), *, estimand: str = "") -> "Estimate":
        """Return one cell of the intervals."""
        return cls(
            value=float(found.value[cell]),
            low=float(found.low[cell]),
            high=float(found.high[cell]),
            error=float(found.error[cell]),
            beta=float(found.beta[cell]),
            n_audited=found.n_audited,
            estimand=estimand,
            question=found.question,
            level=found.level,
            informative=float(found.informative[cell]),
            n_queries=found.n_queries,
        )

    @property
    def is_thin(self) -> bool:
        """Whether too few queries carry the interval, as of an ``Interval``."""
        return self.error > 0 and (self.informative < FEWEST_INFORMATIVE or self.n_audited < FEW)


def estimate(
    metric: ArrayLike,
    proxy: ArrayLike,
    audited: ArrayLike,
    inclusion: ArrayLike,
    *,
    level: float = 0.95,
    beta: float | None = None,
    bounds: Bounds = (0.0, 1.0),
    estimand: str = "",
) -> Estimate:
    """Return the mean of a metric over all queries from those that were audited, with the interval of queries drawn
    like them (formulas 6 and 16 to 19): ``score_interval`` of one metric for ``like``.

    e_q = β g_q + c + (A_q / a_q)(M_q - β g_q - c).

    Args:
        metric: (Q,) M, read where the query was audited.
        proxy: (Q,) g, for example of ``expected_metric``.
        audited: (Q,) whether every pair of the query was judged.
        inclusion: (Q,) or one number: a, the probability that the query was audited.
        beta: a weight of the proxy that is fixed beforehand (default: by least squares over the audited queries).

    Raises ValueError as ``score_interval`` does, and for arrays of more than one axis.
    """
    if np.ndim(metric) != 1:
        raise ValueError(f"Metric {np.shape(metric)} must have one axis, of queries: use score_interval for several.")
    found = score_interval(metric, proxy, audited, inclusion, queries="like", bounds=bounds, level=level, beta=beta)
    return Estimate.of(found, estimand=estimand)


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
        bounds=(-1.0, 1.0),
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
    The spread of e over the queries holds all draws: the interval is Student's, for queries drawn like these.

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

    whole_values, guess = audited_values(metric, linear, whole, (0.0, 1.0))
    over = 1 / chances_of(inclusion, whole)
    noise = len(linear) * spread / max(float((over * (over - 1)).sum()), 1e-300)
    line = Line.through(whole_values, guess[whole], over * (over - 1), beta=beta, noise=noise)
    values = line.at(guess)
    values[whole] += over * (whole_values - values[whole])
    value = float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    reach = float(stdtrit(whole.sum() - 1, (1 + level) / 2)) * error
    return Estimate(
        value, value - reach, value + reach, error, float(line.beta), int(whole.sum()), estimand, level=level
    )


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
