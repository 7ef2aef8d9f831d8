"""How well a ranking puts a query's positives in front. Pure: rankings are sequences of items, best first.

All functions take ``(ranking, positives)`` for one query: ``ranking`` names each item at most once, ``positives`` is
the set of relevant items, at least one. A ranking may be shorter than the gallery: a positive that it does not name
stands at no place, so it counts as missed. ``mean_over_queries`` takes a metric over many queries.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

Query = TypeVar("Query", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)
WithoutPositives = Literal["skip", "zero", "error"]


class Mean(NamedTuple):
    """A metric's mean, NaN over no query at all, and the number of queries it is over."""

    value: float
    queries: int


def recall_at_k(ranking: Sequence[Item], positives: Collection[Item], k: int = 1) -> float:
    """R@k: 1.0 if any of the first ``k`` items is positive, else 0.0 (the field's use of the word recall).

    >>> recall_at_k(["b", "a"], {"a"}), recall_at_k(["b", "a"], {"a"}, k=2)
    (0.0, 1.0)
    """
    if k < 1:
        raise ValueError(f"R@k needs k of at least 1, not {k}.")
    return float(any(_relevance(ranking, positives, k)))


def r_precision(ranking: Sequence[Item], positives: Collection[Item]) -> float:
    """R-Precision: the share of positives among the first R items, R = ``len(positives)``.

    >>> r_precision(["a", "x", "b"], {"a", "b"})
    0.5
    """
    size = len(set(positives))
    return sum(_relevance(ranking, positives, size)) / size


def map_at_r(ranking: Sequence[Item], positives: Collection[Item]) -> float:
    """mAP@R of one query: the mean over the first R ranks of precision-at-rank where the item is positive, else 0.

    R = ``len(positives)`` is also the denominator (Musgrave et al. 2020; ECCV Caption, section 4). With
    R = 8, all right but the first is 0.660, only the first right 0.125.

    >>> map_at_r(["a", "x", "b"], {"a", "b", "c"})
    0.5555555555555555
    """
    size = len(set(positives))
    found, total = 0, 0.0
    for rank, relevant in enumerate(_relevance(ranking, positives, size), 1):
        found += relevant
        total += relevant * found / rank
    return total / size


def mean_over_queries(
    metric: Callable[[Sequence[Item], Collection[Item]], float],
    rankings: Mapping[Query, Sequence[Item]],
    positives: Mapping[Query, Collection[Item]],
    *,
    without_positives: WithoutPositives = "skip",
) -> Mean:
    """Take ``metric`` over the queries of ``positives``, each with its own weight of one.

    ``without_positives`` says what a query with an empty set does: ``skip`` leaves it out of the mean, ``zero`` counts
    it as 0.0, ``error`` raises. Rankings of further queries are not looked at. Raises ValueError for a
    query that has positives but no ranking.
    """
    empty = sum(not items for items in positives.values())
    if empty and without_positives == "error":
        raise ValueError(f"{empty} queries have no positives.")
    unranked = [query for query, items in positives.items() if items and query not in rankings]
    if unranked:
        raise ValueError(f"{len(unranked)} queries have no ranking, {unranked[0]!r} first.")
    values = [metric(rankings[query], items) for query, items in positives.items() if items]
    count = len(values) + (empty if without_positives == "zero" else 0)
    return Mean(sum(values) / count if count else float("nan"), count)


def _relevance(ranking: Sequence[Item], positives: Collection[Item], depth: int) -> list[bool]:
    """Whether each of the first ``depth`` items is positive; shorter where the ranking is."""
    if len(positives) == 0:
        raise ValueError("A query without positives has no score; leave it out.")
    head = list(ranking[:depth])
    if len(set(head)) < len(head):
        raise ValueError(f"A ranking names an item twice among its first {depth}.")
    relevant = set(positives)
    return [item in relevant for item in head]
