"""Metrics of matches and others: every one maps ``Found`` to a value a query, (Q,), NaN for a query without a match.

A match that a list does not hold counts as missed, so a metric of lists that are too short is a lower bound.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from counterpart_metrics.arrays import Floats, Integers, Qrels
from counterpart_metrics.found import Found, find

Query = TypeVar("Query", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)
Metric = Callable[[Found], Floats]
WithoutPositives = Literal["skip", "zero", "error"]
PLAUSIBLE = 50  # PMRP's largest R (ECCV Caption, section 4.1)


class Mean(NamedTuple):
    """The mean of a metric and the number of queries; NaN if there are none."""

    value: float
    queries: int


def hit_rate(found: Found, k: int) -> Floats:
    """R@k: 1 where any of the first ``k`` items is a match, else 0 (the field's use of the word recall)."""
    return _defined(found, (found.best <= k).astype(np.float64))


def share_found(found: Found, k: int) -> Floats:
    """Return the share of a query's matches among the first ``k`` items: the recall of other fields."""
    return _share(found, np.full(len(found.qrels.queries), k), found.qrels.positives)


def precision_at_r(found: Found, most: int | None = None) -> Floats:
    """R-Precision: the share of matches among the first R items, R = the query's number of matches.

    With ``most``, R is at most that: 50 for PMRP (Chun et al. 2021).
    """
    size = found.qrels.positives if most is None else np.minimum(found.qrels.positives, most)
    return _share(found, size, size)


def average_precision_at_r(found: Found) -> Floats:
    """mAP@R of each query: the sum of precision-at-rank over the matches among the first R, by R.

    R is the query's number of matches (Musgrave et al. 2020; ECCV Caption, section 4).
    """
    size = found.qrels.positives
    ranks, rows = _matches_within(found, size)
    order = np.lexsort((ranks, rows))
    ranks = ranks[order]
    rows = rows[order]
    nth = np.arange(1, len(rows) + 1) - np.searchsorted(rows, rows)
    return shares(np.bincount(rows, nth / ranks, minlength=len(size)), size)


def best_rank(found: Found) -> Floats:
    """Return the rank of the best-placed match; infinite if no match is listed: no finite number means unknown."""
    return _defined(found, found.best)


def reciprocal_rank(found: Found) -> Floats:
    """MRR: 1 by the rank of the best-placed match, 0 where none is listed."""
    return _defined(found, 1 / found.best)


def false_positives(found: Found, k: int) -> Floats:
    """FP@k: the share of the first ``k`` places with an item that was judged not to match.

    NaN for a query without such a judgment. Items without a judgment do not count.
    """
    rows = found.qrels.rows
    negative = found.qrels.gains == 0
    n = len(found.qrels.queries)
    hits = np.bincount(rows[negative & (found.ranks > 0) & (found.ranks <= k)], minlength=n) / k
    return np.where(np.bincount(rows[negative], minlength=n) > 0, hits, np.nan)


METRICS: Mapping[str, Metric] = {
    "R@1": partial(hit_rate, k=1),
    "R@5": partial(hit_rate, k=5),
    "R@10": partial(hit_rate, k=10),
    "R-Precision": precision_at_r,
    "mAP@R": average_precision_at_r,
}
MORE: Mapping[str, Metric] = {
    **{f"S@{k}": partial(hit_rate, k=k) for k in (1, 5, 10)},
    "PMRP": partial(precision_at_r, most=PLAUSIBLE),
    "rank": best_rank,
    "MRR": reciprocal_rank,
    **{f"FP@{k}": partial(false_positives, k=k) for k in (1, 5, 10)},
}


def mean_over_queries(values: Floats, *, without_positives: WithoutPositives = "skip") -> Mean:
    """Average a metric's values (Q,), all queries with equal weight.

    ``without_positives`` is the policy for queries without a match (NaN): ``skip`` leaves them out of the mean,
    ``zero`` counts them as 0.0, ``error`` raises ValueError.

    >>> mean_over_queries(np.array([1.0, 0.5, np.nan]))
    Mean(value=0.75, queries=2)
    """
    defined = values[~np.isnan(values)]
    empty = len(values) - len(defined)
    if empty and without_positives == "error":
        raise ValueError(f"{empty} queries have no positives.")
    count = len(defined) + (empty if without_positives == "zero" else 0)
    return Mean(float(defined.sum() / count) if count else float("nan"), count)


def recall_at_k(
    ranking: Sequence[Item] | Mapping[Query, Sequence[Item]],
    positives: Collection[Item] | Mapping[Query, Collection[Item]],
    k: int = 1,
) -> float:
    """R@k: 1.0 if any of the first ``k`` items is positive, else 0.0; of {query: ranking}, the mean over queries.

    Raises ValueError for k < 1, a query without positives or ranking, and an item listed twice.

    >>> recall_at_k(["b", "a"], {"a"}), recall_at_k(["b", "a"], {"a"}, k=2)
    (0.0, 1.0)
    >>> recall_at_k({7: [3, 1], 8: [2, 1]}, {7: {3}, 8: {1}})
    0.5
    """
    return _score(partial(hit_rate, k=_checked(k)), ranking, positives)


def r_precision(
    ranking: Sequence[Item] | Mapping[Query, Sequence[Item]],
    positives: Collection[Item] | Mapping[Query, Collection[Item]],
) -> float:
    """R-Precision: the share of positives among the first R items, R = ``len(positives)``. Otherwise as recall_at_k.

    >>> r_precision(["a", "x", "b"], {"a", "b"})
    0.5
    """
    return _score(precision_at_r, ranking, positives)


def map_at_r(
    ranking: Sequence[Item] | Mapping[Query, Sequence[Item]],
    positives: Collection[Item] | Mapping[Query, Collection[Item]],
) -> float:
    """mAP@R: the mean over the first R ranks of precision-at-rank where the item is positive, else 0.

    With R = 8, all but the first right is 0.660, only the first right 0.125. Otherwise as recall_at_k.

    >>> map_at_r(["a", "x", "b"], {"a", "b", "c"})
    0.5555555555555555
    """
    return _score(average_precision_at_r, ranking, positives)


def success_at_k(
    ranking: Sequence[Item] | Mapping[Query, Sequence[Item]],
    positives: Collection[Item] | Mapping[Query, Collection[Item]],
    k: int = 1,
) -> float:
    """S@k: R@k for matches that people judged instead of the original ones (Hodosh et al. 2013, section 4.3.3)."""
    return recall_at_k(ranking, positives, k)


def pmrp(
    ranking: Sequence[Item] | Mapping[Query, Sequence[Item]],
    positives: Collection[Item] | Mapping[Query, Collection[Item]],
) -> float:
    """PMRP for one set of plausible matches: R-Precision with R at most 50. Otherwise as recall_at_k.

    ``metrics.plausible_matches`` gives the sets for ζ = 0, 1, 2, whose mean Chun et al. 2021 report.

    >>> pmrp(range(50), range(40, 160))
    0.2
    """
    return _score(partial(precision_at_r, most=PLAUSIBLE), ranking, positives)


def median_rank(rankings: Sequence[Item] | Mapping[Query, Sequence[Item]], positives: Any) -> float:
    """Return the median over queries of the rank of the best-placed match; infinite if most lists hold none.

    >>> median_rank({1: [5, 6, 7], 2: [6, 5, 7], 3: [7, 6, 5]}, {1: {5}, 2: {7, 5}, 3: {5}})
    2.0
    """
    return _score(best_rank, rankings, positives, np.median)


def mean_rank(rankings: Sequence[Item] | Mapping[Query, Sequence[Item]], positives: Any) -> float:
    """Return the mean over queries of the rank of the best-placed match; infinite if a list holds none.

    >>> mean_rank({1: [5, 6, 7], 2: [6, 7]}, {1: {7}, 2: {7, 6}})
    2.0
    """
    return _score(best_rank, rankings, positives)


def shares(parts: Floats | Integers, wholes: Floats | Integers) -> Floats:
    """Return parts / wholes, NaN where a whole is 0."""
    return np.divide(parts, wholes, out=np.full(len(parts), np.nan), where=wholes > 0)


def _checked(k: int) -> int:
    if k < 1:
        raise ValueError(f"Invalid k {k}: use at least 1.")
    return k


def _defined(found: Found, values: Floats) -> Floats:
    return np.where(found.qrels.positives > 0, values, np.nan)


def _share(found: Found, depth: Integers, size: Integers) -> Floats:
    _, rows = _matches_within(found, depth)
    return shares(np.bincount(rows, minlength=len(size)), size)


def _matches_within(found: Found, depth: Integers) -> tuple[Integers, Integers]:
    """Return the ranks and rows of the matches among the first ``depth`` (Q,) items of each query."""
    rows = found.qrels.rows
    within = found.qrels.matches & (found.ranks > 0) & (found.ranks <= depth[rows])
    return found.ranks[within], rows[within]


def _score(metric: Metric, ranking: Any, positives: Any, average: Callable[[Floats], Any] = np.mean) -> float:
    rankings, wanted = (ranking, positives) if isinstance(positives, Mapping) else ({0: ranking}, {0: positives})
    if any(len(items) == 0 for items in wanted.values()):
        raise ValueError("A query without positives has no score. Leave it out.")
    unranked = [query for query in wanted if query not in rankings]
    if unranked:
        raise ValueError(f"{len(unranked)} queries have no ranking, for example {unranked[0]!r}.")
    if len(wanted) == 1:
        ((query, items),) = wanted.items()
        found = _found_in_one(rankings[query], items)
    else:
        found = _found_in_all(rankings, wanted)
    return float(average(metric(found)))


def _found_in_one(ranking: Sequence[Item], positives: Collection[Item]) -> Found:
    places = {item: rank for rank, item in enumerate(ranking, 1)}
    if len(places) < len(ranking):
        raise ValueError("A ranking lists an item twice.")
    ranks = np.array([places.get(item, 0) for item in set(positives)], np.int64)
    matches = Qrels.of({0: range(len(ranks))})
    return Found(matches, ranks, np.array([len(ranking)]))


def _found_in_all(rankings: Mapping[Any, Sequence[Any]], positives: Mapping[Any, Collection[Any]]) -> Found:
    if all(isinstance(next(iter(items)), int | np.integer) for items in (positives, *positives.values())):
        return find(rankings, Qrels.of(positives))
    numbers: dict[Hashable, int] = {}  # labels of another kind are numbered first
    lists = {}
    wanted = {}
    for place, (query, items) in enumerate(positives.items()):
        lists[place] = [numbers.setdefault(item, len(numbers)) for item in rankings[query]]
        wanted[place] = {numbers.setdefault(item, len(numbers)) for item in items}
    return find(lists, Qrels.of(wanted))
