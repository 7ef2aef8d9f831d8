"""The order in which a policy asks the pairs of a round, and how many judgments it needs to find the matches.

All labels of the round's pairs are known. What the product decides is decided by the product: its replay of selection.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from counterpart_statistics.estimation import audit_order
from counterpart_statistics.selection.pooled_queries import WholeQueries
from counterpart_statistics.selection.selection_replay import selection_steps

Ids = NDArray[np.int64]
RECALLS = (0.5, 0.8, 0.9, 0.95, 1.0)
BATCH = 160  # pairs of ten HITs, without their controls
PART = 0.02  # of the pairs: a batch is no smaller
FEWEST = 10  # queries of an audit


@dataclass(frozen=True)
class Labelled:
    """The P distinct pairs that a round of all pairs would ask.

    Attributes:
        codes: (P,) as of ``pair_codes``, ascending.
        matches: (P,) whether the pair is one.
        ranks: (P,) the best place that an annotator gives the pair.
    """

    codes: Ids
    matches: NDArray[np.bool_]
    ranks: Ids

    @classmethod
    def of(cls, wholes: Sequence[WholeQueries]) -> "Labelled":
        parts = []
        for queries in (one.queries for one in wholes):
            ranks = queries.ranks[: len(queries.scores)].min(axis=0)
            parts.append([column[queries.asked] for column in (queries.codes, queries.gains > 0, ranks)])
        codes, matches, ranks = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.lexsort((ranks, codes))
        first = order[np.diff(codes[order], prepend=-1) != 0]
        return cls(codes[first], matches[first], ranks[first])

    def shares(self, order: Ids) -> list[float]:
        """Return the share of all judgments after which each of ``RECALLS`` is reached, when pairs are asked in this
        order of their codes."""
        found = np.cumsum(self.matches[np.searchsorted(self.codes, order)])
        needed = np.ceil(np.array(RECALLS) * self.matches.sum())
        return ((np.searchsorted(found, needed) + 1) / len(self.codes)).tolist()


Policy = Callable[[Sequence[WholeQueries], int], Ids]
"""The codes of a round's pairs in the order of their asking, by the round's directions and a seed."""


def scheme(wholes: Sequence[WholeQueries], seed: int) -> Ids:
    """The paper's: every pair, in random order."""
    return np.random.default_rng(seed).permutation(Labelled.of(wholes).codes)


def by_rank(wholes: Sequence[WholeQueries], seed: int) -> Ids:
    """The best places of the annotators' lists first."""
    pairs = Labelled.of(wholes)
    return pairs.codes[np.lexsort((np.random.default_rng(seed).random(len(pairs.codes)), pairs.ranks))]


def oracle(wholes: Sequence[WholeQueries], seed: int) -> Ids:
    """Matches first: what no policy can go below."""
    pairs = Labelled.of(wholes)
    return pairs.codes[np.argsort(~pairs.matches, kind="stable")]


def calibrated(share: float) -> Policy:
    """Whole random queries for this share of them, then the likeliest matches, learned again after every batch."""

    def order(wholes: Sequence[WholeQueries], seed: int) -> Ids:
        total = Labelled.of(wholes).matches.sum()
        asked, found = [], 0
        for step in likely_steps(wholes, share, seed):
            asked.append(step.asked)
            found = step.likely.found
            if found == total:
                break
        return np.concatenate(asked)

    return order


def likely_steps(wholes: Sequence[WholeQueries], share: float, seed: int) -> Iterator:
    """Yield the steps of the product's selection after an audit of a share of each direction's queries."""
    drawn = []
    for one in wholes:
        order = audit_order(np.arange(len(one.queries.keys)), seed).order
        keys = [one.queries.keys[row] for row in order[: max(int(share * len(order)), FEWEST)]]
        drawn.append(replace(one, seed=seed).drawing(keys))
    size = max(BATCH, round(PART * len(Labelled.of(wholes).codes)))
    return selection_steps(drawn, repeat(size))


POLICIES: dict[str, Policy] = {
    "scheme: random order": scheme,
    "best rank first": by_rank,
    "calibrated": calibrated(PART),
    "calibrated, guard of 10% of the queries": calibrated(0.1),
    "oracle": oracle,
}
