"""The judged pairs of the queries of one direction, with the annotators that proposed and list them. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics import Found, Qrels, Rankings, find
from counterpart_statistics.completeness import Beyond, expected_matches
from counterpart_statistics.pair_codes import pair_codes
from counterpart_statistics.random_pairs import Estimate

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class JudgedLists:
    """The judged pairs of the queries of one direction, by query and item.

    Attributes:
        annotators: names of the A annotators.
        qrels: the E pairs with their gains; all queries, also without a pair.
        proposed: (E, A), whether the annotator proposed the pair, in whichever direction.
        rankings: each annotator's lists, to their depth.
    """

    annotators: tuple[str, ...]
    qrels: Qrels
    proposed: NDArray[np.bool_]
    rankings: Mapping[str, Rankings]

    @cached_property
    def found(self) -> dict[str, Found]:
        """Where each annotator ranks the pairs."""
        return {name: find(rankings, self.qrels) for name, rankings in self.rankings.items()}

    def listed(self, depth: int) -> "ListedPairs":
        """Return every pair that is judged or in the first ``depth`` places of a list."""
        qrels = self.qrels
        lists = []
        for one in self.rankings.values():
            inside = np.isin(one.queries, qrels.queries)
            items = one.items[inside, :depth].astype(np.int64)
            rows, places = np.nonzero(items >= 0)
            lists.append((one.queries[inside][rows], items[rows, places], places + 1))
        asked = np.concatenate([qrels.queries[qrels.rows], *(queries for queries, _, _ in lists)])
        items = np.concatenate([qrels.items, *(found for _, found, _ in lists)])
        pairs, place = np.unique(np.stack([asked, items], axis=1), axis=0, return_inverse=True)
        place = place.reshape(-1)
        gains = np.full(len(pairs), np.nan)
        gains[place[: len(qrels.items)]] = qrels.matches
        ranks = np.zeros((len(pairs), len(lists)), np.int64)
        start = len(qrels.items)
        for column, (queries, _, listed) in enumerate(lists):
            ranks[place[start : start + len(queries)], column] = listed
            start += len(queries)
        return ListedPairs(qrels.queries, pairs, ranks, gains)


@dataclass(frozen=True)
class ListedPairs:
    """The pairs of one direction that are judged or in a list: query and item (n, 2), the annotators' ranks (n, A) with
    0 where they do not list it, and the gain (n,), NaN without a judgment; and all ``queries``."""

    queries: Ids
    pairs: Ids
    ranks: Ids
    gains: NDArray[np.float64]

    @property
    def in_list(self) -> NDArray[np.bool_]:
        return np.asarray((self.ranks > 0).any(axis=1), bool)

    def beyond(self, other: "ListedPairs | None", gallery: int, rate: Estimate) -> Beyond:
        """Return what is known of the pairs of the queries, with a ``gallery`` of this many items, that no list of this
        direction holds. ``rate``: the share of matches among random pairs of both directions' queries that neither
        their lists nor those of the ``other`` direction hold."""
        outside = len(self.queries) * gallery - int(self.in_list.sum())
        if other is None:
            return Beyond(outside, rate, probed=max(outside, 1))
        held = self.pairs[self.in_list & np.isin(self.pairs[:, 1], other.queries)]
        theirs = other.in_list & np.isin(other.pairs[:, 1], self.queries)
        turned = other.pairs[theirs][:, ::-1]
        only = ~np.isin(pair_codes(*turned.T), pair_codes(*held.T))
        expected = expected_matches(other.ranks, other.gains)[theirs][only].sum()
        probed = len(self.queries) * len(other.queries) - len(held) - int(only.sum())
        return Beyond(outside, rate, probed, int(only.sum()), float(expected))
