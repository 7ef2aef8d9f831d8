"""Aggregation of the labels that several workers gave to each item. Data frames in, data frames out."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd

Method = Literal["majority"]
Ties = Literal["median", "lower", "higher"]
METHODS: tuple[Method, ...] = get_args(Method)
TIES: tuple[Ties, ...] = get_args(Ties)
LEVELS = (1, 2, 3, 4)


def aggregate(
    labels: pd.DataFrame, method: Method = "majority", *, levels: Sequence[int] | None = None
) -> pd.DataFrame:
    """Return a distribution over the levels for every item.

    ``labels`` has the columns ``item``, ``worker`` and ``label``, one row per answer. The result is indexed by
    ``item`` (ascending) and has a column for each of ``levels`` (ascending); every row sums to 1. ``levels`` None
    means 1-4 if they cover the labels, otherwise the labels that occur. ``majority``: the share of an item's
    workers who chose the level.

    Raises ValueError for an unknown method, a missing column, a label outside ``levels``, or a worker who
    labelled an item twice.

    >>> votes = pd.DataFrame({"item": ["a", "a", "a"], "worker": [1, 2, 3], "label": [1, 1, 3]})
    >>> aggregate(votes).round(2).to_dict("index")
    {'a': {1: 0.67, 2: 0.0, 3: 0.33, 4: 0.0}}
    """
    if method not in METHODS:
        raise ValueError(f"Unknown method {method!r}: use {' or '.join(METHODS)}.")
    scale = _checked_scale(labels, levels)
    counts = pd.crosstab(labels["item"], labels["label"]).reindex(columns=scale, fill_value=0)
    return counts.div(counts.sum(axis=1), axis=0).rename_axis(columns=None)


def conclude(
    votes: pd.DataFrame,
    *,
    method: Method = "majority",
    ties: Ties = "median",
    proposals: pd.DataFrame | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the verdict on every candidate pair of ``votes``, a row each, by image and caption.

    ``votes`` has the columns ``image``, ``caption``, ``worker``, ``level`` (1-4) and ``control`` (empty for a
    candidate, otherwise the polarity of a gold control, which gets no verdict). ``proposals`` (``image``, ``caption``,
    ``annotator``, ``direction``, ``rank``, ``score``) and ``seed`` serve the methods that use them. The result has the
    columns ``image``, ``caption``, ``level``, ``share_1`` to ``share_4``, ``confidence`` (the share of ``level``) and
    ``votes``; it does not depend on the order of the rows. Raises ValueError as ``aggregate`` does.
    """
    candidates = votes[votes["control"] == ""]
    pairs = candidates.groupby(["image", "caption"], sort=True)
    labels = pd.DataFrame({"item": pairs.ngroup(), "worker": candidates["worker"], "label": candidates["level"]})
    distribution = aggregate(labels, method, levels=LEVELS)
    levels = choose_levels(distribution, ties=ties)
    verdicts = pairs.size().rename("votes").reset_index()
    shares = distribution.to_numpy(float)
    columns = {"level": levels.to_numpy(), **{f"share_{level}": shares[:, level - 1] for level in LEVELS}}
    confidence = shares[np.arange(len(levels)), levels.to_numpy(int) - 1]
    verdicts = verdicts.assign(**columns, confidence=confidence)
    return verdicts[["image", "caption", *columns, "confidence", "votes"]]


def choose_levels(distribution: pd.DataFrame, *, ties: Ties = "median") -> pd.Series:
    """Choose the level with the largest share for every item (row) of ``distribution``.

    ``ties`` chooses among levels with equal shares: ``lower`` and ``higher`` take the tied level at that end of the
    scale; ``median`` takes the one nearest to the median answer, and the higher of two equally near. So answers
    1, 2, 3 give 2, and answers 2, 3 give 3: a tie between yes and no is no match, because only a pair that wins its
    vote enters a dataset.

    >>> choose_levels(pd.DataFrame([[1 / 3, 1 / 3, 1 / 3, 0]], columns=[1, 2, 3, 4])).tolist()
    [2]
    """
    if ties not in get_args(Ties):
        raise ValueError(f"Unknown policy for ties {ties!r}: use {', '.join(get_args(Ties))}.")
    shares, levels = distribution.to_numpy(float), distribution.columns.to_numpy()
    wanted = {"median": _medians(shares, levels), "lower": levels[:1], "higher": levels[-1:]}[ties]
    tied = shares > shares.max(axis=1, keepdims=True) - 1e-9
    distance = np.where(tied, np.abs(levels - wanted[:, None]), np.inf)
    # Reversed, so that the first of equal distances is the higher level.
    chosen = levels[::-1][distance[:, ::-1].argmin(axis=1)]
    return pd.Series(chosen, index=distribution.index, name="level")


def _medians(shares: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return the median answer of each row."""
    reached = shares.cumsum(axis=1)
    return (levels[(reached > 0.5 - 1e-9).argmax(axis=1)] + levels[(reached > 0.5 + 1e-9).argmax(axis=1)]) / 2


def _checked_scale(labels: pd.DataFrame, levels: Sequence[int] | None) -> list[int]:
    missing = {"item", "worker", "label"} - set(labels.columns)
    if missing:
        raise ValueError(f"The labels lack the columns {', '.join(sorted(missing))}.")
    twice = labels.duplicated(["item", "worker"])
    if twice.any():
        raise ValueError(f"{twice.sum()} labels repeat an item and worker; keep one of each.")
    seen = set(labels["label"].unique())
    scale = sorted(levels or (LEVELS if seen <= set(LEVELS) else seen))
    if foreign := seen - set(scale):
        raise ValueError(f"{len(foreign)} labels are not among the levels: {', '.join(map(str, sorted(foreign)))}.")
    return scale
