"""Plausible matches: items that show nearly the same categories of objects, and PMRP (Chun et al. 2021)."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.binary import PLAUSIBLE
from evaluation.metrics.found import NO_ITEM, Floats, Integers, Lists, Qrels, Rankings

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
    if zeta < 0:
        raise ValueError(f"Invalid zeta {zeta}: use 0, 1, 2.")
    query_ids, of_query, item_ids, of_item, different = _kinds(queries, items)
    plausible = [item_ids[near[of_item]] for near in different <= zeta]
    found = [plausible[kind] for kind in of_query]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in found])]).astype(np.int64)
    return Qrels(query_ids, starts, np.concatenate([*found, np.empty(0, np.int64)]), np.ones(starts[-1]))


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
    query_ids, of_query, item_ids, of_item, different = _kinds(queries, items)
    row = np.minimum(np.searchsorted(rankings.queries, query_ids), max(0, len(rankings.queries) - 1))
    ranked = rankings.queries[row] == query_ids if len(rankings.queries) else np.zeros(len(query_ids), np.bool_)
    if not ranked.all():
        raise ValueError(f"{(~ranked).sum()} queries have no ranking, for example {query_ids[~ranked][0]}.")
    listed = rankings.items[row, :PLAUSIBLE]
    place = np.minimum(np.searchsorted(item_ids, listed), len(item_ids) - 1)
    known = item_ids[place] == listed
    if (~known & (listed != NO_ITEM)).any():
        raise ValueError(f"{len(np.unique(listed[~known & (listed != NO_ITEM)]))} listed items have no categories.")
    distances = np.where(known, different[of_query[:, None], of_item[place]], np.inf)
    of_kind = np.bincount(of_item, minlength=different.shape[1])
    values = {}
    for zeta in zetas:
        size = np.minimum(((different <= zeta) @ of_kind)[of_query], PLAUSIBLE)
        hits = ((distances <= zeta) & (np.arange(listed.shape[1]) < size[:, None])).sum(1)
        values[zeta] = np.divide(hits, size, out=np.full(len(size), np.nan), where=size > 0)
    return values


def _kinds(
    queries: Categories, items: Categories
) -> tuple[Integers, Integers, Integers, Integers, NDArray[np.float32]]:
    """Ids (ascending) and kinds of queries and items, and by how many categories two kinds differ."""
    names = sorted({name for one in (*queries.values(), *items.values()) for name in one})
    asked, of_query = np.unique(_table(queries, names), axis=0, return_inverse=True)
    shown, of_item = np.unique(_table(items, names), axis=0, return_inverse=True)
    different = asked.sum(1)[:, None] + shown.sum(1) - 2 * (asked @ shown.T)
    query_ids, item_ids = np.fromiter(queries, np.int64, len(queries)), np.fromiter(items, np.int64, len(items))
    by_query, by_item = np.argsort(query_ids), np.argsort(item_ids)
    return query_ids[by_query], of_query.ravel()[by_query], item_ids[by_item], of_item.ravel()[by_item], different


def _table(shown: Categories, names: list[int]) -> NDArray[np.float32]:
    """(n, categories): 1 where shown. Counts of categories are exact in float32."""
    column = {name: place for place, name in enumerate(names)}
    table = np.zeros((len(shown), len(names)), np.float32)
    for row, categories in enumerate(shown.values()):
        table[row, [column[name] for name in categories]] = 1
    return table
