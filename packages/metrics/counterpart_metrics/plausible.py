"""Plausible matches: items that show nearly the same categories of objects, and PMRP (Chun et al. 2021)."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from counterpart_metrics.arrays import NO_ITEM, Floats, Integers, Lists, Qrels, Rankings
from counterpart_metrics.binary import PLAUSIBLE, shares

ZETAS = (0, 1, 2)
Categories = Mapping[int, Collection[int]]


def plausible_matches(queries: Categories, items: Categories, zeta: int = 0) -> Qrels:
    """Return the items whose categories differ from the query's in at most ``zeta`` places.

    Args:
        queries, items: id → categories of objects; a caption has those of its image.

    Raises:
        ValueError: for a negative zeta.

    >>> plausible_matches({1: [3, 5]}, {10: [3, 5], 11: [3], 12: []}, zeta=1).items
    array([10, 11])
    """
    return Plausible(queries, items).matches(zeta)


def plausible_precision(
    rankings: Rankings | Lists, queries: Categories, items: Categories, zetas: Sequence[int] = ZETAS
) -> dict[int, Floats]:
    """Return PMRP of each query for each zeta: the share of plausible matches among the first R, R at most 50.

    The same as the metric ``PMRP`` on ``plausible_matches``, without making millions of matches. Values are (Q,), by
    ascending id of the query; a list that ends early misses the rest.

    Raises:
        ValueError: for a query without a ranking, and a listed item without categories.

    >>> ranked = Rankings.of({1: [12, 10, 11]})
    >>> plausible_precision(ranked, {1: [3, 5]}, {10: [3, 5], 11: [3], 12: []}, zetas=[0, 1])
    {0: array([0.]), 1: array([0.5])}
    """
    if not isinstance(rankings, Rankings):
        rankings = Rankings.of({query: listed[:PLAUSIBLE] for query, listed in rankings.items()})
    known = Plausible(queries, items)
    row = np.minimum(np.searchsorted(rankings.queries, known.queries), max(0, len(rankings.queries) - 1))
    ranked = rankings.queries[row] == known.queries if len(rankings.queries) else np.zeros(len(known.queries), np.bool_)
    if not ranked.all():
        raise ValueError(f"{(~ranked).sum()} queries have no ranking, for example {known.queries[~ranked][0]}.")
    listed = rankings.items[row, :PLAUSIBLE]
    place = np.minimum(np.searchsorted(known.items, listed), len(known.items) - 1)
    shown = known.items[place] == listed
    if (~shown & (listed != NO_ITEM)).any():
        raise ValueError(f"{len(np.unique(listed[~shown & (listed != NO_ITEM)]))} listed items have no categories.")
    distances = np.where(shown, known.different[known.of_query[:, None], known.of_item[place]], np.inf)
    of_kind = np.bincount(known.of_item, minlength=known.different.shape[1])
    values = {}
    for zeta in zetas:
        size = np.minimum(((known.different <= zeta) @ of_kind)[known.of_query], PLAUSIBLE)
        hits = ((distances <= zeta) & (np.arange(listed.shape[1]) < size[:, None])).sum(1)
        values[zeta] = shares(hits, size)
    return values


class Plausible:
    """Queries and items by the categories that they show.

    Attributes:
        queries, items: ids, ascending; (Q,) and (N,).
        of_query, of_item: the kind of each, that is its set of categories.
        different: by how many categories two kinds differ, (kinds of queries, kinds of items).
    """

    def __init__(self, queries: Categories, items: Categories) -> None:
        names = sorted({name for one in (*queries.values(), *items.values()) for name in one})
        self.queries, asked, self.of_query = _kinds(queries, names)
        self.items, shown, self.of_item = _kinds(items, names)
        self.different = asked.sum(1)[:, None] + shown.sum(1) - 2 * (asked @ shown.T)

    def matches(self, zeta: int, some: Integers | None = None) -> Qrels:
        """Return the plausible matches of some queries, ascending (default: all). Raises ValueError for zeta < 0."""
        if zeta < 0:
            raise ValueError(f"Invalid zeta {zeta}: use 0, 1, 2.")
        queries = self.queries if some is None else some
        kinds, places = np.unique(self.of_query[np.searchsorted(self.queries, queries)], return_inverse=True)
        plausible = [self.items[near[self.of_item]] for near in self.different[kinds] <= zeta]
        found = [plausible[place] for place in places]
        starts = np.concatenate([[0], np.cumsum([len(one) for one in found])]).astype(np.int64)
        return Qrels(queries, starts, np.concatenate([*found, np.empty(0, np.int64)]), np.ones(starts[-1]))


def _kinds(shown: Categories, names: list[int]) -> tuple[Integers, NDArray[np.float32], Integers]:
    """Ids, ascending; the distinct rows of their table of categories; the row of each."""
    ids = np.fromiter(shown, np.int64, len(shown))
    kinds, of = np.unique(_table(shown, names), axis=0, return_inverse=True)
    order = np.argsort(ids)
    return ids[order], kinds, of.ravel()[order]


def _table(shown: Categories, names: list[int]) -> NDArray[np.float32]:
    """(n, categories): 1 where shown. Counts of categories are exact in float32."""
    column = {name: place for place, name in enumerate(names)}
    table = np.zeros((len(shown), len(names)), np.float32)
    for row, categories in enumerate(shown.values()):
        table[row, [column[name] for name in categories]] = 1
    return table
