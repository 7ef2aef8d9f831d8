"""Aggregation of the labels that several workers gave to each item. Data frames in, data frames out.

A method is a function of ``votes.Votes`` that returns a ``fit.Fit``: one module each, listed in ``fit_votes``.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from counterpart_statistics.aggregation.certainty import Certainty, certainty_of, shows_percentage
from counterpart_statistics.aggregation.consensus import consensus
from counterpart_statistics.aggregation.crowds import ControlAnswers
from counterpart_statistics.aggregation.dawid_skene import dawid_skene
from counterpart_statistics.aggregation.fit import Fit, Tallies, Ties, choose_levels, chosen_places
from counterpart_statistics.aggregation.glad import glad
from counterpart_statistics.aggregation.mace import mace
from counterpart_statistics.aggregation.ordinal import ordinal
from counterpart_statistics.aggregation.sorted_votes import read_votes
from counterpart_statistics.aggregation.spooled_rows import SpooledRows
from counterpart_statistics.aggregation.votes import LEVELS, Floats, Votes
from counterpart_statistics.judged import MATCH

Method = Literal["majority", "dawid-skene", "mace", "glad", "ordinal", "consensus"]
METHODS: tuple[Method, ...] = get_args(Method)
TIES: tuple[Ties, ...] = get_args(Ties)
USE_GOLD: frozenset[Method] = frozenset({"dawid-skene", "ordinal", "consensus"})
"""The methods whose verdicts depend on the votes on gold controls."""
RIGHT = {"positive": MATCH, "negative": (3, 4)}
"""The right levels of a gold control, by its polarity."""
POSITIVE = {"strict": (1,), "lenient": MATCH}
"""The levels that are a match, by the name of the policy."""

__all__ = [
    "LEVELS",
    "METHODS",
    "POSITIVE",
    "RIGHT",
    "TIES",
    "USE_GOLD",
    "Certainty",
    "Concluded",
    "ControlAnswers",
    "FullConclusion",
    "Method",
    "Ties",
    "aggregate",
    "certainty_of",
    "choose_levels",
    "conclude",
    "conclusions",
    "fit_votes",
    "full_conclusion",
    "shows_percentage",
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
    votes = read_votes(labels, levels=levels, gold=gold)
    names = pd.Index([] if votes.item_names is None else votes.item_names)
    if proposals is not None:
        codes = names.get_indexer(pd.Index(proposals["item"]))
        proposals = proposals.assign(item=codes)[codes >= 0]
    fit = fit_votes(votes, method, proposals=proposals, seed=seed)
    return pd.DataFrame(fit.distribution, index=names.rename("item"), columns=list(votes.levels))


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


Pair = tuple[str, str]  # of image and caption


@dataclass(frozen=True)
class FullConclusion:
    """``verdicts`` as of ``conclude``; ``workers`` as of ``fit.Tallies.described``; ``annotators``: the ``pairs``,
    ``accuracy`` and ``weight`` of every annotator and direction that had a vote; ``certainty`` if it was asked for."""

    verdicts: pd.DataFrame
    workers: pd.DataFrame
    annotators: pd.DataFrame
    certainty: Certainty | None


def full_conclusion(
    votes: pd.DataFrame,
    *,
    method: Method = "majority",
    ties: Ties = "median",
    proposals: pd.DataFrame | None = None,
    seed: int = 0,
    certain: bool = False,
    answers: pd.DataFrame | None = None,
    kept: Collection[Pair] | None = None,
    reviewed: Mapping[Pair, bool] | None = None,
) -> FullConclusion:
    """Return the verdicts of ``conclude`` with what the method found out about workers and annotators.

    ``certain`` adds the column ``probability``: that the side of the verdict, match or no match, is right. It rests on
    ``answers``: those to controls of all submitted sets, with the columns of ``votes``, ``set`` (also of ``votes``) and
    ``counted``. ``kept``: the pairs whose verdicts its figures count (None: all); ``reviewed``: whether pairs that were
    reviewed at random match.
    """
    pairs, items = _numbered(votes)
    gold = {item: RIGHT[polarity] for item, polarity in pairs.loc[pairs["control"] != "", "control"].items()}
    labels = pd.DataFrame({"item": items, "worker": votes["worker"], "label": votes["level"]})
    submitted = None
    if answers is not None:
        submitted, names = ControlAnswers.of(answers, votes[["set", "worker"]])
        labels["set"] = names.get_indexer(pd.Index(votes["set"]))
    read = read_votes(labels, levels=LEVELS, gold=gold)
    del labels, items
    fit = fit_votes(read, method, proposals=_by_item(proposals, pairs), seed=seed)
    certainty = None
    if certain or answers is not None:
        chosen = {"sides": fit.sides(ties), **_by_code(pairs, kept, reviewed or {})}
        certainty = certainty_of(read, submitted, **chosen)
    parts = list(conclusions(read, fit, ties, certainty))
    shares = np.concatenate([part.shares for part in parts] or [np.empty((0, len(LEVELS)))])
    verdicts = pairs.loc[pairs["control"] == "", ["image", "caption", "votes"]].reset_index(drop=True)
    verdicts.insert(2, "level", np.concatenate([part.levels for part in parts] or [np.empty(0, int)]))
    for level in LEVELS:
        verdicts.insert(2 + level, f"share_{level}", shares[:, level - 1])
    verdicts.insert(7, "confidence", np.concatenate([part.confidence for part in parts] or [np.empty(0)]))
    if certainty:
        verdicts["probability"] = np.concatenate([part.probability for part in parts] or [np.empty(0)])
    workers = Tallies.of(read, fit, ties).described(fit.skills)
    return FullConclusion(verdicts, workers, fit.members, certainty)


@dataclass(frozen=True)
class Concluded:
    """The verdicts on the candidates of a batch: the codes of the items, their levels, the shares of all levels
    (items, levels), the share of the level, the number of votes, and the probability that the level's side, match or no
    match, is right (NaN without a ``Certainty``)."""

    codes: NDArray[np.int64]
    levels: NDArray[np.int64]
    shares: Floats
    confidence: Floats
    votes: NDArray[np.int32]
    probability: Floats


def conclusions(votes: Votes, fit: Fit, ties: Ties, certainty: Certainty | None = None) -> Iterator[Concluded]:
    """Yield the verdicts on the candidates, in the order of the items, a batch at a time."""
    levels = np.array(votes.levels)
    for batch in votes.batches():
        candidates = ~batch.is_gold
        shares = fit.of(batch)[candidates]
        places = chosen_places(shares, ties)
        rows = batch.rows[candidates]
        chosen = levels[places]
        match = certainty.of(batch)[candidates] if certainty else np.full(len(rows), np.nan)
        is_match = np.isin(chosen, POSITIVE["lenient"])
        probability = certainty.right(match, is_match) if certainty else match
        confidence = shares[np.arange(len(places)), places]
        yield Concluded(rows["code"], chosen, shares, confidence, rows["votes"], probability)


def _by_code(pairs: pd.DataFrame, kept: Collection[Pair] | None, reviewed: Mapping[Pair, bool]) -> dict[str, Any]:
    """Return what ``certainty_of`` takes of some candidates, by their places among ``pairs``."""
    candidates = pairs[pairs["control"] == ""]
    codes = dict(zip(zip(candidates["image"], candidates["caption"], strict=True), candidates.index, strict=True))
    by_code = {codes[pair]: is_match for pair, is_match in reviewed.items() if pair in codes}
    counted = np.isin(pairs.index, [codes[pair] for pair in kept or () if pair in codes])
    return {"reviewed": by_code, "kept": None if kept is None else lambda batch: counted[batch.rows["code"]]}


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


def fit_votes(votes: Votes, method: Method, *, proposals: pd.DataFrame | None = None, seed: int = 0) -> Fit:
    """Return the fit of the method. ``proposals`` are those of ``aggregate``, with the code of each item.

    Raises ValueError for an unknown method.
    """
    if method not in METHODS:
        raise ValueError(f"Unknown method {method!r}: use {' or '.join(METHODS)}.")
    no_candidates = votes.others is None and not votes.candidates
    if method == "majority" or len(votes.levels) == 1 or no_candidates:
        shares = votes.passed(SpooledRows(np.float64, shape=(len(votes.levels),)), lambda batch: batch.shares)
        return Fit(shares.distribution, pd.DataFrame(index=votes.worker_names))
    methods = {
        "dawid-skene": lambda: dawid_skene(votes),
        "mace": lambda: mace(votes, seed=seed),
        "glad": lambda: glad(votes),
        "ordinal": lambda: ordinal(votes),
        "consensus": lambda: consensus(votes, proposals),
    }
    fit = methods[method]()
    fit.round(votes)
    return fit
