"""The arrays that every metric works on: judgments, rankings, and where the judged items stand in the rankings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

NO_ITEM = -1
LARGEST_TABLE = 2**26  # ids; larger ones are numbered first
SHALLOW, DEEPER = 64, 8  # places of lists that are read first, and the factor by which the next look is deeper

Lists = Mapping[int, Sequence[int]]


@dataclass(frozen=True)
class Qrels:
    """Judgments of one direction, query by query (CSR).

    Attributes:
        queries: (Q,) distinct, ascending.
        starts: (Q + 1,): the items of query q are ``items[starts[q]:starts[q + 1]]``.
        items: (E,) at least 0, ascending within a query.
        gains: (E,) in 0..1. More than 0 is a match (1 full, 0.5 partly), 0 was judged and is no match, NaN is in the
            pool but was not judged (only infAP looks at these).
    """

    queries: Integers
    starts: Integers
    items: Integers
    gains: Floats

    @classmethod
    def of(cls, judged: Mapping[int, Iterable[int] | Mapping[int, float]]) -> Self:
        """Return ``{query: matching items}`` or ``{query: {item: gain}}`` as arrays.

        Raises ValueError for a negative item and for a gain outside 0..1.

        >>> Qrels.of({7: [3, 1], 2: {5: 0.5, 4: 0.0}}).items
        array([4, 5, 1, 3])
        """
        graded = [one if isinstance(one, Mapping) else dict.fromkeys(one, 1.0) for one in judged.values()]
        sizes = np.fromiter(map(len, graded), np.int64, len(graded))
        queries = np.repeat(np.fromiter(judged, np.int64, len(graded)), sizes)
        items = np.fromiter(chain.from_iterable(graded), np.int64, sizes.sum())
        gains = np.fromiter(chain.from_iterable(one.values() for one in graded), np.float64, sizes.sum())
        return cls.of_pairs(queries, items, gains, every=np.fromiter(judged, np.int64, len(graded)))

    @classmethod
    def of_pairs(
        cls,
        queries: ArrayLike,
        items: ArrayLike,
        gains: ArrayLike | None = None,
        *,
        every: ArrayLike | None = None,
    ) -> Self:
        """Return judged pairs, (E,) each, in any order, as arrays by query; without gains, all are matches.

        ``every``: the queries, where some have no pair. Raises ValueError for a pair that occurs twice, a negative
        item and a gain outside 0..1.
        """
        asking, items = np.asarray(queries, np.int64), np.asarray(items, np.int64)
        weights = np.ones(len(items)) if gains is None else np.asarray(gains, np.float64)
        distinct = np.unique(asking if every is None else np.asarray(every, np.int64))
        order = np.lexsort((items, asking))
        asking, items, weights = asking[order], items[order], weights[order]
        if len(items) and items.min() < 0:
            raise ValueError(f"{(items < 0).sum()} items are negative. Use ids from 0.")
        if ((weights < 0) | (weights > 1)).any():
            raise ValueError(f"{((weights < 0) | (weights > 1)).sum()} gains are outside 0..1.")
        again = (asking[1:] == asking[:-1]) & (items[1:] == items[:-1])
        if again.any():
            raise ValueError(f"{again.sum()} pairs are judged twice, for example item {items[1:][again][0]}.")
        return cls(distinct, np.searchsorted(asking, [*distinct, np.iinfo(np.int64).max]), items, weights)

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
    """

    queries: Integers
    items: NDArray[np.integer]
    scores: Floats | None = None

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
        scores, rows, columns = np.asarray(similarity), np.asarray(queries, np.int64), np.asarray(items, np.int64)
        if scores.shape != (len(rows), len(columns)):
            raise ValueError(
                f"The similarity is {scores.shape}, but there are {len(rows)} queries, {len(columns)} items."
            )
        if len(np.unique(rows)) < len(rows) or len(np.unique(columns)) < len(columns):
            raise ValueError("Some ids of the queries or items repeat.")
        by_id, by_column = np.argsort(rows), np.argsort(columns)
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


@dataclass(frozen=True)
class Found:
    """Where the judged items stand in the rankings.

    Attributes:
        qrels: the judgments.
        ranks: (E,) rank of each judged item, from 1; 0 = not listed.
        lengths: (Q,) number of items in the list of each query of ``qrels``. In a part of the gallery the list counts
            up to its last judged item, where all of them are listed.
    """

    qrels: Qrels
    ranks: Integers
    lengths: Integers

    def keep(self, mask: Mask) -> Self:
        """Return the same as if only the judgments in ``mask`` (E,) existed."""
        return type(self)(self.qrels.keep(mask), self.ranks[mask], self.lengths)

    @cached_property
    def best(self) -> Floats:
        """(Q,): rank of the best-placed match; infinite where none is listed."""
        best = np.full(len(self.qrels.queries), np.inf)
        listed = self.qrels.matches & (self.ranks > 0)
        np.minimum.at(best, self.qrels.rows[listed], self.ranks[listed])
        return best

    @cached_property
    def ordered(self) -> Integers:
        """Places in ``items`` of the judged items that are listed, by query and rank."""
        listed = np.flatnonzero(self.ranks)
        return listed[np.lexsort((self.ranks[listed], self.qrels.rows[listed]))]

    def above(self, mask: Mask) -> Integers:
        """(len(ordered),): how many judged items in ``mask`` (E,) stand above each listed one, in that order."""
        return counts_before(mask[self.ordered], self.qrels.rows[self.ordered])


class RepeatedItemError(ValueError):
    """A ranking lists an item twice."""

    def __init__(self, query: int) -> None:
        super().__init__(f"The ranking of query {query} lists an item twice.")
        self.query = query


def within(rankings: Rankings, gallery: ArrayLike) -> Rankings:
    """Return the rankings as if only the items of the gallery existed.

    >>> within(Rankings.of({1: [7, 8, 9]}), [9, 7]).items
    array([[ 7,  9, -1]])
    """
    outside = ~np.isin(rankings.items, gallery)
    order = np.argsort(outside, axis=1, kind="stable")
    items = np.take_along_axis(np.where(outside, NO_ITEM, rankings.items), order, 1)
    scores = None if rankings.scores is None else np.take_along_axis(rankings.scores, order, 1)
    return Rankings(rankings.queries, items, scores)


def _falling(scores: NDArray) -> Integers:
    """The order of falling scores (N,), equal ones by place."""
    if np.isnan(scores).any():
        raise ValueError("Some similarities are not numbers (NaN).")
    if scores.dtype != np.float32:
        return np.argsort(-scores, kind="stable")
    # Sorting whole numbers is several times as fast: a score's bits, flipped where it is positive, then its place.
    bits = (scores + np.float32(0)).view(np.int32).astype(np.int64)
    bits = np.where(bits < 0, bits & 0x7FFFFFFF, ~bits)
    return np.sort((bits << 32) | np.arange(len(scores))) & 0xFFFFFFFF


def counts_before(mask: Mask, rows: Integers) -> Integers:
    """Return how many of ``mask`` (n,) stand before each place of the same row; ``rows`` (n,) ascend."""
    before = np.concatenate([[0], np.cumsum(mask)])
    return before[:-1] - before[np.searchsorted(rows, rows)]


def find(rankings: Rankings | Lists, qrels: Qrels, *, gallery: ArrayLike | None = None) -> Found:
    """Find the judged items in the rankings. Each list is read up to its last judged item.

    Args:
        rankings: arrays, or {query: items, best first}.
        gallery: ids of the items that are ranked, as if no other existed (default: all).

    Raises:
        ValueError: for a query without a ranking that has a match, and for an item listed twice up to there.
    """
    if not isinstance(rankings, Rankings):
        return find_each(rankings, [(qrels, gallery)])[0]
    row_of = np.searchsorted(rankings.queries, qrels.queries)
    ranked = np.zeros(len(qrels.queries), np.bool_)
    inside = row_of < len(rankings.queries)
    ranked[inside] = rankings.queries[row_of[inside]] == qrels.queries[inside]
    missing = ~ranked & (qrels.positives > 0)
    if missing.any():
        raise ValueError(f"{missing.sum()} queries have no ranking, for example {qrels.queries[missing][0]}.")
    row_of[~ranked] = -1
    items, judged, counted = rankings.items, qrels.items, None if gallery is None else np.asarray(gallery, np.int64)
    largest = max(rankings.largest, int(judged.max(initial=0)))
    if largest >= LARGEST_TABLE:
        names = np.unique(np.concatenate([judged, items.ravel()]))
        items = np.where(items == NO_ITEM, NO_ITEM, np.searchsorted(names, items))
        judged, largest = np.searchsorted(names, judged), len(names)
        counted = None if counted is None else np.searchsorted(names, counted[np.isin(counted, names)])

    from evaluation.metrics.scan import COUNTED, OUTSIDE, scan  # numba takes half a second to import

    states = np.full(largest + 1, COUNTED if counted is None else OUTSIDE, np.uint8)
    if counted is not None:
        states[counted[counted <= largest]] = COUNTED
    ranks, lengths, twice = scan(np.asarray(items), row_of, qrels.starts, judged, states)
    if twice >= 0:
        raise RepeatedItemError(int(qrels.queries[twice]))
    if counted is None:
        lengths = np.where(ranked, rankings.lengths[row_of], 0) if len(rankings.queries) else lengths
    return Found(qrels, ranks, lengths)


def find_each(
    rankings: Rankings | Lists, wanted: Sequence[tuple[Qrels, ArrayLike | None]], *, depth: int | None = None
) -> list[Found]:
    """As ``find`` for several judgments, each with its gallery.

    Turning lists into arrays costs more than all else: they are turned once for all, and only as much of each as holds
    its judged items, to a factor. With ``depth``, judged items below that rank may count as not listed.
    """
    if isinstance(rankings, Rankings):
        return [find(rankings, qrels, gallery=gallery) for qrels, gallery in wanted]
    searches = [_Search(rankings, qrels, gallery, depth) for qrels, gallery in wanted]
    read = SHALLOW
    while asked := set().union(*(one.queries_left for one in searches)):
        heads = Rankings.of({query: rankings[query][:read] for query in asked if query in rankings})
        for one in searches:
            one.look(heads, read)
        read *= DEEPER
    return [Found(one.qrels, one.ranks, one.lengths) for one in searches]


class _Search:
    """Looks for judged items in ever longer heads of lists."""

    def __init__(self, lists: Lists, qrels: Qrels, gallery: ArrayLike | None, depth: int | None) -> None:
        self.qrels, self._gallery, self._depth = qrels, gallery, depth or np.inf
        self._ends = np.array([len(lists.get(query, ())) for query in qrels.queries.tolist()], np.int64)
        self.ranks, self.lengths = np.zeros(len(qrels.items), np.int64), self._ends.copy()
        self._left = np.ones(len(self._ends), np.bool_)

    @property
    def queries_left(self) -> list[int]:
        return self.qrels.queries[self._left].tolist()

    def look(self, heads: Rankings, read: int) -> None:
        part = self.qrels.of_queries(self._left)
        found = find(heads, part, gallery=self._gallery)
        self.ranks[self._left[self.qrels.rows]] = found.ranks
        if self._gallery is not None:
            self.lengths[self._left] = found.lengths
        lacks = np.bincount(part.rows[found.ranks == 0], minlength=len(part.queries)) > 0
        self._left[self._left] = lacks & (found.lengths < self._depth) & (self._ends[self._left] > read)
