"""Coverage: precision and recall of one source of matches against verified ones (ECCV Caption, section 3.3)."""

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Query = TypeVar("Query", bound=Hashable)
Item = TypeVar("Item", bound=Hashable)
Pairs = Mapping[Query, Iterable[Item]]


class Coverage(NamedTuple):
    """Means over queries, in 0..1; NaN if no query counts."""

    precision: float
    recall: float


def coverage(
    benchmark: Pairs[Query, Item], verified: Pairs[Query, Item], *, judged: Pairs[Query, Item] | None = None
) -> Coverage:
    """Compare ``benchmark`` positives r with ``verified`` positives t, both {query: items}.

    Precision = mean |r ∩ t| / |r| over the queries with a benchmark positive; a pair without a judgment
    counts as wrong, as in the paper, unless ``judged`` pairs are given: then only these count.
    Recall = mean 1 - |t \\ r| / |t| over the queries with a verified positive.

    >>> coverage({1: {10, 11}}, {1: {10, 12}, 2: {13}})
    Coverage(precision=0.5, recall=0.25)
    """
    queries: dict[Hashable, int] = {}
    items: dict[Hashable, int] = {}
    ours, theirs, known = (_numbered(pairs, queries, items) for pairs in (benchmark, verified, judged or {}))
    counted = ours if judged is None else np.intersect1d(ours, known)
    shared = np.intersect1d(ours, theirs)
    precision = _mean_share(np.isin(counted, theirs), counted >> 32)
    return Coverage(precision, _mean_share(np.isin(theirs, shared), theirs >> 32))


def _numbered(pairs: Pairs, queries: dict[Hashable, int], items: dict[Hashable, int]) -> NDArray[np.int64]:
    """Return one number a distinct pair: that of its query in the upper half, that of its item in the lower."""
    numbers = [
        (queries.setdefault(query, len(queries)) << 32) + items.setdefault(item, len(items))
        for query, found in pairs.items()
        for item in found
    ]
    return np.unique(np.array(numbers, np.int64))


def _mean_share(inside: NDArray[np.bool_], query: NDArray[np.int64]) -> float:
    """Return the mean over queries of the share of their pairs that are inside."""
    sizes = np.bincount(query)
    hits = np.bincount(query, inside)
    return float((hits[sizes > 0] / sizes[sizes > 0]).mean()) if len(query) else float("nan")
