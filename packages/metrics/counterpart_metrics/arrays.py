"""The arrays that every metric works on: judgments and rankings."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Lists = Mapping[int, Sequence[int]]

NO_ITEM = -1
DIRECTIONS = {"i2t": "image → captions", "t2i": "caption → images"}
SIDES = {"i2t": "image_to_caption", "t2i": "caption_to_image"}  # in the names of files, as those of ECCV Caption


@dataclass(frozen=True)
class Qrels:
    """Judgments of one direction, query by query (CSR).

    Attributes:
        queries: (Q,) distinct, ascending.
        starts: (Q + 1,): the items of query q are ``items[starts[q]:starts[q + 1]]``.
        items: (E,) at least 0, ascending within a query.
        gains: (E,) in 0..1. More than 0 is a match (1 full, 0.5 partly), 0 was judged not to match, NaN is in the
            pool but was not judged (only infAP looks at these).
    """

    queries: Integers
    starts: Integers
    items: Integers
    gains: Floats

    @classmethod
    def of(cls, judged: Mapping[int, Collection[int] | Mapping[int, float]]) -> Self:
        """Return ``{query: matching items}`` or ``{query: {item: gain}}`` as arrays.

        Raises ValueError for a negative item and for a gain outside 0..1.

        >>> Qrels.of({7: [3, 1], 2: {5: 0.5, 4: 0.0}}).items
        array([4, 5, 1, 3])
        """
        queries = np.fromiter(judged, np.int64, len(judged))
        sizes = np.fromiter(map(len, judged.values()), np.int64, len(judged))
        items = np.fromiter(chain.from_iterable(judged.values()), np.int64, sizes.sum())
        gains = None
        if any(issubclass(kind, Mapping) for kind in set(map(type, judged.values()))):
            each = (one.values() if isinstance(one, Mapping) else repeat(1.0, len(one)) for one in judged.values())
            gains = np.fromiter(chain.from_iterable(each), np.float64, sizes.sum())
        return cls.of_pairs(np.repeat(queries, sizes), items, gains, every=queries, repeated="keep one")

    @classmethod
    def of_pairs(
        cls,
        queries: ArrayLike,
        items: ArrayLike,
        gains: ArrayLike | None = None,
        *,
        every: ArrayLike | None = None,
        repeated: Literal["error", "keep one"] = "error",
    ) -> Self:
        """Return judged pairs, (E,) each, in any order, as arrays by query; without gains, all are matches.

        ``every``: the queries, where some have no pair. Raises ValueError for a pair that occurs twice (see
        ``repeated``), a negative item and a gain outside 0..1.
        """
        asking = np.asarray(queries, np.int64)
        items = np.asarray(items, np.int64)
        weights = np.ones(len(items)) if gains is None else np.asarray(gains, np.float64)
        if len(items) and items.min() < 0:
            raise ValueError(f"{(items < 0).sum()} items are negative. Use ids from 0.")
        if (wrong := (weights < 0) | (weights > 1)).any():
            raise ValueError(f"{wrong.sum()} gains are outside 0..1.")
        distinct = np.unique(asking if every is None else np.asarray(every, np.int64))
        order = _by_query_and_item(asking, items)
        asking, items, weights = asking[order], items[order], weights[order]
        again = np.zeros(len(items), np.bool_)
        again[1:] = (asking[1:] == asking[:-1]) & (items[1:] == items[:-1])
        if again.any():
            if repeated == "error":
                raise ValueError(f"{again.sum()} pairs are judged twice, for example item {items[again][0]}.")
            asking, items, weights = asking[~again], items[~again], weights[~again]
        starts = np.searchsorted(asking, np.append(distinct, np.iinfo(np.int64).max))
        return cls(distinct, starts, items, weights)

    @cached_property
    def rows(self) -> Integers:
        """(E,): the query of each item, as its place in ``queries``."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.starts))

    @cached_property
    def matches(self) -> Mask:
        """(E,): whether the item is a match."""
        return self.gains > 0

    @cached_property
    def positives(self) -> Integers:
        """(Q,): number of matches, the R of R-Precision."""
        return np.bincount(self.rows[self.matches], minlength=len(self.queries))

    def of_queries(self, mask: Mask) -> Self:
        """Return only the queries in ``mask`` (Q,), with their judgments."""
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[mask])])
        pairs = mask[self.rows]
        return type(self)(self.queries[mask], starts, self.items[pairs], self.gains[pairs])

    def keep(self, mask: Mask) -> Self:
        """Return only the judgments in ``mask`` (E,), of the same queries."""
        kept = np.concatenate([[0], np.cumsum(mask)])
        return type(self)(self.queries, kept[self.starts], self.items[mask], self.gains[mask])


@dataclass(frozen=True)
class Rankings:
    """One model's rankings in one direction.

    Attributes:
        queries: (Q,) distinct, ascending.
        items: (Q, depth) whole numbers (int32 or int64), best first, -1 after the end of a shorter list.
        scores: (Q, depth), or None.
        contradicted: number of lists to which a file gives ranks in another order than its scores.
    """

    queries: Integers
    items: NDArray[np.integer]
    scores: Floats | None = None
    contradicted: int = 0

    @classmethod
    def of(cls, lists: Mapping[int, Sequence[int]]) -> Self:
        """Return ``{query: items, best first}`` as arrays. Raises ValueError for a negative item.

        >>> Rankings.of({7: [3, 1], 2: [5]}).items
        array([[ 5, -1],
               [ 3,  1]])
        """
        queries = np.fromiter(lists, np.int64, len(lists))
        order = np.argsort(queries)
        values = list(lists.values())
        rows = [values[row] for row in order]
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
        if len(rows) and isinstance(rows[0], np.ndarray):
            listed = np.concatenate(rows).astype(np.int64, copy=False)
        else:
            listed = np.fromiter(chain.from_iterable(rows), np.int64, sizes.sum())
        if len(listed) and listed.min() < 0:
            raise ValueError(f"{(listed < 0).sum()} items are negative. Use ids from 0.")
        depth = int(sizes.max(initial=0))
        if (sizes == depth).all():
            return cls(queries[order], listed.reshape(len(rows), depth))
        items = np.full((len(rows), depth), NO_ITEM, np.int64)
        items[np.arange(depth) < sizes[:, None]] = listed
        return cls(queries[order], items)

    @classmethod
    def of_similarity(cls, similarity: ArrayLike, queries: ArrayLike, items: ArrayLike) -> Self:
        """Rank all items for each query by falling similarity (Q, N); of equal ones the smaller item comes first.

        Args:
            queries, items: ids of the rows (Q,) and columns (N,).

        Raises:
            ValueError: for other shapes, ids that repeat, and similarities that are not numbers.

        >>> Rankings.of_similarity([[0.1, 0.9], [0.5, 0.5]], [7, 2], [30, 20]).items.tolist()
        [[20, 30], [20, 30]]
        """
        scores = np.asarray(similarity)
        rows = np.asarray(queries, np.int64)
        columns = np.asarray(items, np.int64)
        if scores.shape != (len(rows), len(columns)):
            raise ValueError(
                f"The similarity is {scores.shape}, but there are {len(rows)} queries, {len(columns)} items."
            )
        if len(np.unique(rows)) < len(rows) or len(np.unique(columns)) < len(columns):
            raise ValueError("Some ids of the queries or items repeat.")
        by_id = np.argsort(rows)
        by_column = np.argsort(columns)
        columns = columns[by_column].astype(np.int32 if columns.max(initial=0) < 2**31 else np.int64)
        ranked = np.empty(scores.shape, columns.dtype)
        for place, row in enumerate(by_id):
            ranked[place] = columns[_falling(scores[row][by_column])]
        return cls(rows[by_id], ranked)

    def of_queries(self, mask: Mask) -> Self:
        """Return only the lists of the queries in ``mask`` (Q,)."""
        if mask.all():
            return self
        return type(self)(self.queries[mask], self.items[mask], None if self.scores is None else self.scores[mask])

    @cached_property
    def largest(self) -> int:
        """The largest id of an item."""
        return int(self.items.max(initial=0))

    @cached_property
    def lengths(self) -> Integers:
        """(Q,): number of listed items."""
        n, depth = self.items.shape
        lengths = np.full(n, depth)
        if depth:
            short = self.items[:, -1] == NO_ITEM
            lengths[short] = (self.items[short] != NO_ITEM).sum(1)
        return lengths


def within(rankings: Rankings, gallery: ArrayLike) -> Rankings:
    """Return the rankings as if only the items of the gallery existed.

    >>> within(Rankings.of({1: [7, 8, 9]}), [9, 7]).items
    array([[ 7,  9, -1]])
    """
    return without(rankings, ~np.isin(rankings.items, gallery))


def without(rankings: Rankings, entries: Mask) -> Rankings:
    """Return the rankings without these entries (Q, depth)."""
    order = np.argsort(entries, axis=1, kind="stable")
    items = np.take_along_axis(np.where(entries, NO_ITEM, rankings.items), order, 1)
    scores = None if rankings.scores is None else np.take_along_axis(rankings.scores, order, 1)
    return Rankings(rankings.queries, items, scores)


def _by_query_and_item(queries: Integers, items: Integers) -> Integers:
    """Return the order of pairs (E,); one number a pair, where it fits, sorts several times as fast as two."""
    span = int(items.max(initial=0)) + 1
    if span * (int(np.abs(queries).max(initial=0)) + 1) < 2**63:
        return np.argsort(queries * span + items)
    return np.lexsort((items, queries))


def _falling(scores: NDArray) -> Integers:
    """Return the order of falling scores (N,), equal ones by place."""
    if np.isnan(scores).any():
        raise ValueError("Some similarities are not numbers (NaN).")
    if scores.dtype != np.float32:
        return np.argsort(-scores, kind="stable")
    # Sorting whole numbers is several times as fast: a score's bits, flipped where it is positive, then its place.
    bits = (scores + np.float32(0)).view(np.int32).astype(np.int64)
    bits = np.where(bits < 0, bits & 0x7FFFFFFF, ~bits)
    return np.sort((bits << 32) | np.arange(len(scores))) & 0xFFFFFFFF
