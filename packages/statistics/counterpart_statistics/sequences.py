"""Confidence sequences: intervals for a mean that hold at every moment at once, however many looks are taken. Pure.

The method is the hedged capital process of Waudby-Smith and Ramdas, *Estimating means of bounded random variables by
betting*, JRSS B 86 (2024), with their predictable plug-in bets. For each possible mean m a gambler bets that the values
are above it, another that they are below; if m is the mean, each one's capital is a martingale that begins at 1, so by
Ville's inequality it ever reaches 2/alpha with probability alpha/2 at most. The interval holds the means at which
neither gambler ever has. Where the values are drawn without replacement from a finite population, as the HITs of a
round are, the gamblers know what is left: m is replaced by the mean of the values yet to come (the same paper on
sampling without replacement; also Waudby-Smith and Ramdas, NeurIPS 2020). Once all are drawn the interval is a point.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

BOLDEST = 0.75  # share of the capital that a bet risks at most
HALVINGS = 30  # of the range in which a bound is looked for; it is then rounded outwards

Floats = NDArray[np.float64]


class Bounds(NamedTuple):
    """Lower and upper bounds, a row for each look: (looks,) or (looks, n). From look to look they only narrow, unless
    the values that were drawn prove an earlier bound wrong."""

    low: Floats
    high: Floats


def confidence_sequence(
    values: ArrayLike,
    *,
    bounds: tuple[ArrayLike, ArrayLike] = (0.0, 1.0),
    population: int | None = None,
    alpha: float = 0.05,
    looks: Iterable[int] | None = None,
) -> Bounds:
    """Return intervals for the mean after the first values, which hold for all looks with probability 1 - alpha.

    Args:
        values: (t,) or (t, n), in the order in which they were seen; n sequences of their own.
        bounds: least and greatest possible value, numbers or one for each sequence (n,), known beforehand.
        population: number of values there are, if these are drawn from them in random order without replacement; the
            mean is then that of the population. None: each value has the same mean, given those before it.
        alpha: probability that an interval ever misses the mean, for each sequence.
        looks: numbers of values, from 1, after which the bounds are returned (default: after the last one). They do not
            change the bounds.

    Raises ValueError for values outside the bounds, an alpha outside 0..1, more values than the population has, or a
    look before the first value.

    >>> low, high = confidence_sequence([1, 0, 1, 1, 1, 0, 1, 1], population=10)
    >>> print(low.round(2), high.round(2))
    [0.6] [0.8]
    """
    seen = np.asarray(values, float)
    table = seen[:, None] if seen.ndim == 1 else seen
    least, greatest = (np.broadcast_to(np.asarray(bound, float), table.shape[1:]) for bound in bounds)
    when = [len(table)] if looks is None else list(looks)
    _check(table, least, greatest, population, alpha, when)
    spread = greatest > least  # else the mean is known
    unit = np.clip((table - least) / np.where(spread, greatest - least, 1.0), 0.0, 1.0)
    # Whoever bets on less bets on more of what is missing to 1.
    low, miss = (_lower_bounds(side, population, alpha, when) for side in (unit, 1.0 - unit))
    width = np.where(spread, greatest - least, 0.0)
    both = Bounds(least + width * low, least + width * np.maximum(1.0 - miss, low))
    return Bounds(both.low[:, 0], both.high[:, 0]) if seen.ndim == 1 else both


def _check(
    table: Floats, least: Floats, greatest: Floats, population: int | None, alpha: float, looks: list[int]
) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"Invalid alpha {alpha}: use a probability between 0 and 1.")
    if population is not None and len(table) > population:
        raise ValueError(f"{len(table)} values were drawn from a population of {population}.")
    if looks and not 1 <= min(looks) <= max(looks) <= len(table):
        raise ValueError(f"Invalid looks from {min(looks)} to {max(looks)}: there are {len(table)} values.")
    slack = 1e-9 * (1 + np.abs(least) + np.abs(greatest))
    if outside := int((~((table >= least - slack) & (table <= greatest + slack))).sum()):
        raise ValueError(f"{outside} values are outside their bounds.")


def _lower_bounds(table: Floats, population: int | None, alpha: float, looks: list[int]) -> Floats:
    """Return the lower bounds (looks, n) of the mean of values in 0..1."""
    bets = _bets(table, alpha)
    before = np.cumsum(table, axis=0) - table
    low = np.zeros(table.shape[1])
    bounds = np.empty((len(looks), table.shape[1]))
    for place in np.argsort(looks, kind="stable"):
        seen = slice(0, looks[place])
        low = _refuted_up_to(low, table[seen], bets[seen], before[seen], population, np.log(2 / alpha))
        bounds[place] = low
        if population is not None:  # what was seen is certain, whatever the rest is and whatever the bets said
            certain = table[seen].sum(axis=0) / population
            bounds[place] = np.clip(low, certain, certain + (1 - looks[place] / population))
    return bounds


def _refuted_up_to(
    low: Floats, table: Floats, bets: Floats, before: Floats, population: int | None, wanted: float
) -> Floats:
    """Return the greatest mean (n,), to a small step, at which the logarithm of the capital once reached ``wanted``.

    The capital falls as m rises, so the refuted means are those below a bound; it is found by halving.
    """
    left = np.arange(len(table))[:, None]
    high = np.ones_like(low)
    for _ in range(HALVINGS):
        means = (low + high) / 2
        to_come = (
            np.broadcast_to(means, before.shape)
            if population is None
            else (population * means - before) / (population - left)
        )
        bold = BOLDEST / np.maximum(to_come, 1e-12)
        gains = np.minimum(bets, bold) * (table - np.clip(to_come, 1e-12, 1.0))
        refuted = (np.cumsum(np.log1p(gains), axis=0) >= wanted).any(axis=0)
        refuted |= (to_come < -1e-9).any(axis=0)  # the values seen have a greater sum already
        low = np.where(refuted, means, low)
        high = np.where(refuted, high, means)
    return low


def _bets(table: Floats, alpha: float) -> Floats:
    """Return the stake on each value (t, n), from the values before it: the authors' predictable plug-in."""
    count = np.arange(1, len(table) + 1)[:, None]
    mean = (0.5 + np.cumsum(table, axis=0)) / (count + 1)
    variance = (0.25 + np.cumsum((table - mean) ** 2, axis=0)) / (count + 1)
    known = np.concatenate([np.full((1, table.shape[1]), 0.25), variance[:-1]])
    return np.asarray(np.sqrt(2 * np.log(2 / alpha) / (known * count * np.log1p(count))))
