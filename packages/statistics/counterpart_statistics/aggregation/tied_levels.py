"""Which level wins where several have equal shares."""

from typing import Literal, get_args

import numpy as np
import pandas as pd

Ties = Literal["median", "lower", "higher"]


def choose_levels(distribution: pd.DataFrame, *, ties: Ties = "median") -> pd.Series:
    """Choose the level with the largest share for every item (row) of ``distribution``.

    ``ties`` chooses among levels with equal shares: ``lower`` and ``higher`` take the tied level at that end of the
    scale; ``median`` takes the one nearest to the median answer, and the higher of two equally near. So answers
    1, 2, 3 give 2, and answers 2, 3 give 3: a tie between yes and no is not a match, because only a pair that wins its
    vote enters a dataset.

    >>> choose_levels(pd.DataFrame([[1 / 3, 1 / 3, 1 / 3, 0]], columns=[1, 2, 3, 4])).tolist()
    [2]
    """
    places = chosen_places(distribution.to_numpy(float), ties, distribution.columns.to_numpy())
    return pd.Series(distribution.columns.to_numpy()[places], index=distribution.index, name="level")


def chosen_places(shares: np.ndarray, ties: Ties, levels: np.ndarray | None = None) -> np.ndarray:
    """Return the place of the level that ``choose_levels`` chooses for each row of ``shares``; ``levels`` None means
    levels at equal distances. Raises ValueError for an unknown policy."""
    if ties not in get_args(Ties):
        raise ValueError(f"Unknown policy for ties {ties!r}: use {', '.join(get_args(Ties))}.")
    levels = np.arange(shares.shape[1]) if levels is None else levels
    wanted = {"median": _medians(shares, levels), "lower": levels[:1], "higher": levels[-1:]}[ties]
    tied = shares > shares.max(axis=1, keepdims=True) - 1e-9
    distance = np.where(tied, np.abs(levels - wanted[:, None]), np.inf)
    # Reversed, so that the first of equal distances is the higher level.
    return shares.shape[1] - 1 - distance[:, ::-1].argmin(axis=1)


def _medians(shares: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return the median answer of each row."""
    reached = shares.cumsum(axis=1)
    return (levels[(reached > 0.5 - 1e-9).argmax(axis=1)] + levels[(reached > 0.5 + 1e-9).argmax(axis=1)]) / 2
