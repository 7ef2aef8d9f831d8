"""Precision and recall of one set of positives against another, a query at a time (ECCV Caption, section 3.3)."""

from collections.abc import Hashable, Mapping, Set
from typing import NamedTuple, TypeVar

Query = TypeVar("Query", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)
Positives = Mapping[Query, Set[Item]]


class Coverage(NamedTuple):
    """Means over queries, in 0..1; NaN where no query can be counted."""

    precision: float
    recall: float


def coverage(benchmark: Positives[Query, Item], verified: Positives[Query, Item]) -> Coverage:
    """Hold ``benchmark`` positives r against ``verified`` positives t, both {query: items}.

    Precision = mean |r ∩ t| / |r| over the queries with a benchmark positive; as the paper prints it, a pair
    nobody judged counts as wrong. Recall = mean 1 - |t \\ r| / |t| over the queries with a verified positive.
    """
    precisions = [len(items & verified.get(query, set())) / len(items) for query, items in benchmark.items() if items]
    recalls = [1 - len(items - benchmark.get(query, set())) / len(items) for query, items in verified.items() if items]
    return Coverage(_mean(precisions), _mean(recalls))


def coverage_of_judged(
    benchmark: Positives[Query, Item], verified: Positives[Query, Item], judged: Positives[Query, Item]
) -> Coverage:
    """As ``coverage``, but leave the benchmark's pairs that nobody judged out of the precision."""
    seen = {query: items & judged.get(query, set()) for query, items in benchmark.items()}
    return Coverage(coverage(seen, verified).precision, coverage(benchmark, verified).recall)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
