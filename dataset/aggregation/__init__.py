"""Aggregation of the labels that several workers gave to each item. Data frames in, data frames out.

A method is a function of ``votes.Votes`` that returns a ``fit.Fit``: one module each, listed in ``_fit``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from dataset.aggregation.consensus import consensus
from dataset.aggregation.crowdkit_models import glad, mace
from dataset.aggregation.dawid_skene import dawid_skene
from dataset.aggregation.fit import Fit, describe_workers
from dataset.aggregation.ordinal import ordinal
from dataset.aggregation.tied_levels import Ties, choose_levels
from dataset.aggregation.votes import LEVELS, Votes, read_votes

Method = Literal["majority", "dawid-skene", "mace", "glad", "ordinal", "consensus"]
METHODS: tuple[Method, ...] = get_args(Method)
TIES: tuple[Ties, ...] = get_args(Ties)
USE_GOLD: frozenset[Method] = frozenset({"dawid-skene", "ordinal", "consensus"})
"""The methods whose verdicts depend on the votes on gold controls."""
RIGHT = {"positive": (1, 2), "negative": (3, 4)}
"""The right levels of a gold control, by its polarity."""
POSITIVE = {"strict": (1,), "lenient": (1, 2)}
"""The levels that are a match, by the name of the policy."""
_DIGITS = 9  # of the shares of all methods but majority: what another order of summation cannot change

__all__ = [
    "LEVELS",
    "METHODS",
    "POSITIVE",
    "RIGHT",
    "TIES",
    "USE_GOLD",
    "FullConclusion",
    "Method",
    "Ties",
    "aggregate",
    "choose_levels",
    "conclude",
    "full_conclusion",
]


def aggregate(
    labels: pd.DataFrame,
    method: Method = "majority",
    *,
    levels: Sequence[int] | None = None,
    gold: Mapping[Any, Iterable[int]] | None = None,
    proposals: pd.DataFrame | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return a distribution over the levels for every item.

    ``labels`` has the columns ``item``, ``worker`` and ``label``, one row per answer. The result is indexed by
    ``item`` (ascending) and has a column for each of ``levels`` (ascending); every row sums to 1. ``levels`` None
    means 1-4 if they cover the labels, otherwise the labels that occur. ``majority``: the share of an item's
    workers who chose the level. ``docs/researchers.md`` says what the other methods assume.

    ``gold`` gives the right levels of items whose answer is known, ``proposals`` (``item``, ``annotator``,
    ``direction``, ``rank``, ``score``) what annotators found, and ``seed`` draws random starts, for those methods that
    use them. The result does not depend on the order of the rows.

    Raises ValueError for an unknown method, a missing column, a label outside ``levels``, or a worker who
    labelled an item twice.

    >>> votes = pd.DataFrame({"item": ["a", "a", "a"], "worker": [1, 2, 3], "label": [1, 1, 3]})
    >>> aggregate(votes).round(2).to_dict("index")
    {'a': {1: 0.67, 2: 0.0, 3: 0.33, 4: 0.0}}
    """
    if method not in METHODS:
        raise ValueError(f"Unknown method {method!r}: use {' or '.join(METHODS)}.")
    votes = read_votes(labels, levels=levels, gold=gold)
    return _table(votes, _fit(votes, method, proposals, seed))


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
    return full_conclusion(votes, method=method, ties=ties, proposals=proposals, seed=seed).verdicts


@dataclass(frozen=True)
class FullConclusion:
    """``verdicts`` as of ``conclude``; ``workers`` as of ``fit.describe_workers``; ``annotators``: the ``pairs``,
    ``accuracy`` and ``weight`` of every annotator and direction that had a vote."""

    verdicts: pd.DataFrame
    workers: pd.DataFrame
    annotators: pd.DataFrame


def full_conclusion(
    votes: pd.DataFrame,
    *,
    method: Method = "majority",
    ties: Ties = "median",
    proposals: pd.DataFrame | None = None,
    seed: int = 0,
) -> FullConclusion:
    """Return the verdicts of ``conclude`` with what the method found out about workers and annotators."""
    if method not in METHODS:
        raise ValueError(f"Unknown method {method!r}: use {' or '.join(METHODS)}.")
    pairs, items = _numbered(votes)
    gold = {item: RIGHT[polarity] for item, polarity in pairs.loc[pairs["control"] != "", "control"].items()}
    labels = pd.DataFrame({"item": items, "worker": votes["worker"], "label": votes["level"]})
    read = read_votes(labels, levels=LEVELS, gold=gold)
    del labels, items
    fit = _fit(read, method, _by_item(proposals, pairs), seed)
    levels = choose_levels(_table(read, fit), ties=ties).to_numpy(int)
    confidence = fit.distribution[np.arange(len(levels)), levels - 1]
    shares = {f"share_{level}": fit.distribution[:, level - 1] for level in LEVELS}
    verdicts = pairs.assign(level=levels, **shares, confidence=confidence)
    kept = ["image", "caption", "level", *shares, "confidence", "votes"]
    return FullConclusion(
        verdicts.loc[pairs["control"] == "", kept].reset_index(drop=True),
        describe_workers(read, fit, levels - 1),
        fit.members,
    )


def _numbered(votes: pd.DataFrame) -> tuple[pd.DataFrame, "pd.Series[int]"]:
    """Return the pairs with their numbers of votes, and the place among them of each vote's pair."""
    groups = votes.groupby(["image", "caption", "control"], sort=True)
    return groups.size().rename("votes").reset_index(), groups.ngroup()


def _by_item(proposals: pd.DataFrame | None, pairs: pd.DataFrame) -> pd.DataFrame | None:
    """Return the proposals of candidates, with the candidate's place among ``pairs`` as ``item``."""
    if proposals is None:
        return None
    candidates = pairs.reset_index(names="item")
    return proposals.merge(candidates[candidates["control"] == ""], on=["image", "caption"])


def _fit(votes: Votes, method: Method, proposals: pd.DataFrame | None, seed: int) -> Fit:
    if method == "majority" or len(votes.levels) == 1 or votes.is_gold.all():
        return Fit(votes.shares, pd.DataFrame(index=votes.worker_names))
    methods = {
        "dawid-skene": lambda: dawid_skene(votes),
        "mace": lambda: mace(votes, seed=seed),
        "glad": lambda: glad(votes),
        "ordinal": lambda: ordinal(votes),
        "consensus": lambda: consensus(votes, proposals),
    }
    fit = methods[method]()
    return replace(fit, distribution=fit.distribution.round(_DIGITS))


def _table(votes: Votes, fit: Fit) -> pd.DataFrame:
    return pd.DataFrame(fit.distribution, index=votes.item_names.rename("item"), columns=list(votes.levels))
