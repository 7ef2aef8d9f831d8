"""The ranks of the judged items in the rankings, from which every metric is computed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from counterpart_metrics.arrays import NO_ITEM, Floats, Integers, Lists, Mask, Qrels, Rankings
from counterpart_metrics.judged_ranks import scan

LARGEST_TABLE = 2**26  # ids; larger ones are numbered first
SHALLOW = 64  # places of lists that are read first
DEEPER = 8  # factor by which the next look is deeper


@dataclass(frozen=True)
class Found:
    """The ranks of the judged items in the rankings.

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
        ranks = np.where(self.qrels.matches & (self.ranks > 0), self.ranks, np.inf)
        best = np.minimum.reduceat(np.append(ranks, np.inf), self.qrels.starts[:-1])
        best[np.diff(self.qrels.starts) == 0] = np.inf  # reduceat gives the next query's first
        return best

    @cached_property
    def ordered(self) -> Integers:
        """Places in ``items`` of the judged items that are listed, by query and rank."""
        listed = np.flatnonzero(self.ranks)
        return listed[np.lexsort((self.ranks[listed], self.qrels.rows[listed]))]

    def above(self, mask: Mask) -> Integers:
        """(len(ordered),): how many judged items in ``mask`` (E,) rank above each listed one, in that order."""
        rows = self.qrels.rows[self.ordered]
        before = np.concatenate([[0], np.cumsum(mask[self.ordered])])
        return before[:-1] - before[np.searchsorted(rows, rows)]


class RepeatedItemError(ValueError):
    """A ranking lists an item twice."""

    def __init__(self, query: int) -> None:
        super().__init__(f"The ranking of query {query} lists an item twice.")
        self.query = query


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
    items = rankings.items
    judged = qrels.items
    counted = None if gallery is None else np.asarray(gallery, np.int64)
    largest = max(rankings.largest, int(judged.max(initial=0)))
    if largest >= LARGEST_TABLE:
        names = np.unique(np.concatenate([judged, items.ravel()]))
        items = np.where(items == NO_ITEM, NO_ITEM, np.searchsorted(names, items))
        judged = np.searchsorted(names, judged)
        largest = len(names)
        counted = None if counted is None else np.searchsorted(names, counted[np.isin(counted, names)])

    states = np.full(largest + 1, counted is None, np.uint8)
    if counted is not None:
        states[counted[counted <= largest]] = 1
    ranks, lengths, twice = _scan()(np.asarray(items), row_of, qrels.starts, judged, states)
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
    longest = max((int(search.lengths.max(initial=0)) for search in searches), default=0)
    read = SHALLOW if longest > 2 * SHALLOW else longest  # a copy of a short list takes longer than reading it
    while asked := set().union(*(search.queries_left for search in searches)):
        ranked = asked & rankings.keys()
        heads = Rankings.of({query: rankings[query][:read] if read < longest else rankings[query] for query in ranked})
        for search in searches:
            search.look(heads, read)
        read *= DEEPER
    return [Found(search.qrels, search.ranks, search.lengths) for search in searches]


def _scan() -> Callable[..., tuple[Integers, Integers, int]]:
    """Return the compiled loop where numba is installed, which takes half a second to import, else NumPy's."""
    try:
        from counterpart_metrics.compiled_ranks import scan as compiled
    except ImportError:
        return scan
    return compiled


class _Search:
    """Looks for judged items in ever longer heads of lists."""

    def __init__(self, lists: Lists, qrels: Qrels, gallery: ArrayLike | None, depth: int | None) -> None:
        self.qrels = qrels
        self._gallery = gallery
        self._depth = depth or np.inf
        self._ends = np.array([len(lists.get(query, ())) for query in qrels.queries.tolist()], np.int64)
        self.ranks = np.zeros(len(qrels.items), np.int64)
        self.lengths = self._ends.copy()
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
        has_unread = np.bincount(part.rows[found.ranks == 0], minlength=len(part.queries)) > 0
        self._left[self._left] = has_unread & (found.lengths < self._depth) & (self._ends[self._left] > read)
