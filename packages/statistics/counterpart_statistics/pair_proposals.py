"""Pairs that annotators propose, as columns, out of their ranked lists. Pure arrays."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from counterpart_statistics.pair_codes import pair_codes

Ids = NDArray[np.int64]


class Proposals(NamedTuple):
    """Proposals as columns: the annotator, the direction of the search, the pair, its rank from 1, and its score."""

    annotators: Ids
    directions: NDArray[np.str_]
    images: Ids
    captions: Ids
    ranks: Ids
    scores: NDArray[np.floating]


class Lists(Protocol):
    """Ranked lists: ``queries`` (Q,), ``items`` (Q, k), best first, 0 after the end of a list, and their scores."""

    @property
    def queries(self) -> Ids: ...

    @property
    def items(self) -> Ids: ...

    @property
    def scores(self) -> NDArray[np.floating]: ...


def flattened(annotator: int, direction: str, lists: Lists, top_k: int, known: Ids) -> Proposals:
    """Return the first ``top_k`` items of each list that are not ``known``, pairs (n, 2); short lists have fewer.

    With the direction ``i2t`` the queries are images, with ``t2i`` captions.
    """
    queries = np.broadcast_to(lists.queries[:, None], lists.items.shape)
    sides = (queries, lists.items) if direction == "i2t" else (lists.items, queries)
    new = (lists.items != 0) & ~np.isin(pair_codes(*sides), pair_codes(*known.T))
    taken = new & (np.cumsum(new, axis=1) <= top_k)
    ranks = np.broadcast_to(np.arange(1, lists.items.shape[1] + 1), lists.items.shape)[taken]
    images, captions = (side[taken] for side in sides)
    return Proposals(
        np.full(len(ranks), annotator), np.full(len(ranks), direction), images, captions, ranks, lists.scores[taken]
    )


def by_pair(proposals: Proposals) -> tuple[Proposals, int]:
    """Sort by image and caption, so that an index of pairs grows at its end; count the distinct pairs."""
    codes = pair_codes(proposals.images, proposals.captions)  # one number sorts faster than two
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    n_pairs = 1 + int(np.count_nonzero(codes[1:] != codes[:-1]))
    return Proposals._make(column[order] for column in proposals), n_pairs
