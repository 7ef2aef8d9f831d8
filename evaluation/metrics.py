"""Metrics of rankings, and the coverage of one set of positives by another. Pure; rankings are best first.

Metrics take ``(ranking, positives)`` of one query: ``ranking`` lists each item at most once, ``positives`` is the
set of relevant items, at least one. A ranking may be shorter than the gallery: a positive that it does not list
counts as missed. ``mean_over_queries`` averages a metric over many queries.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence, Set
from typing import Literal, NamedTuple, TypeVar

Query = TypeVar("Query", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)
Positives = Mapping[Query, Set[Item]]
WithoutPositives = Literal["skip", "zero", "error"]


class Coverage(NamedTuple):
    """Means over queries, in 0..1; NaN if no query counts."""

    precision: float
    recall: float


class Mean(NamedTuple):
    """The mean of a metric and the number of queries; NaN if there are none."""

    value: float
    queries: int


def recall_at_k(ranking: Sequence[Item], positives: Collection[Item], k: int = 1) -> float:
    """R@k: 1.0 if any of the first ``k`` items is positive, else 0.0 (the field's use of the word recall).

    >>> recall_at_k(["b", "a"], {"a"}), recall_at_k(["b", "a"], {"a"}, k=2)
    (0.0, 1.0)
    """
    if k < 1:
        raise ValueError(f"Invalid k {k}: R@k needs at least 1.")
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
    R = 8, all but the first right is 0.660, only the first right 0.125.

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
    """Average ``metric`` over the queries of ``positives``, all with equal weight.

    ``without_positives`` is the policy for queries with an empty set: ``skip`` leaves them out of the mean, ``zero``
    counts them as 0.0, ``error`` raises. Rankings of other queries are ignored. Raises ValueError for a query
    that has positives but no ranking.
    """
    empty = sum(not items for items in positives.values())
    if empty and without_positives == "error":
        raise ValueError(f"{empty} queries have no positives.")
    unranked = [query for query, items in positives.items() if items and query not in rankings]
    if unranked:
        raise ValueError(f"{len(unranked)} queries have no ranking, for example {unranked[0]!r}.")
    values = [metric(rankings[query], items) for query, items in positives.items() if items]
    count = len(values) + (empty if without_positives == "zero" else 0)
    return Mean(sum(values) / count if count else float("nan"), count)


def coverage(
    benchmark: Positives[Query, Item],
    verified: Positives[Query, Item],
    *,
    judged: Positives[Query, Item] | None = None,
) -> Coverage:
    """Compare ``benchmark`` positives r with ``verified`` positives t, both {query: items} (ECCV Caption, section 3.3).

    Precision = mean |r ∩ t| / |r| over the queries with a benchmark positive; a pair that nobody judged counts as
    wrong, as in the paper, unless ``judged`` pairs are given: then only these count. Recall = mean 1 - |t \\ r| / |t|
    over the queries with a verified positive.
    """
    counted = benchmark if judged is None else {q: items & judged.get(q, set()) for q, items in benchmark.items()}
    precisions = [len(items & verified.get(query, set())) / len(items) for query, items in counted.items() if items]
    recalls = [1 - len(items - benchmark.get(query, set())) / len(items) for query, items in verified.items() if items]
    return Coverage(_mean(precisions), _mean(recalls))


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _relevance(ranking: Sequence[Item], positives: Collection[Item], depth: int) -> list[bool]:
    """Return whether each of the first ``depth`` items is positive; shorter if the ranking is shorter."""
    if len(positives) == 0:
        raise ValueError("A query without positives has no score. Leave it out.")
    head = list(ranking[:depth])
    if len(set(head)) < len(head):
        raise ValueError(f"A ranking lists an item twice among its first {depth}.")
    relevant = set(positives)
    return [item in relevant for item in head]
