"""What top-k lists say of their search: lists without information, ties, hubs, collapsed vectors."""

from collections.abc import Iterable
from math import exp, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpart_topk.hubness.corrections import skewness

Figures = dict[str, Any]
Ids = NDArray[np.int64]
Scores = NDArray[np.floating]
Blocks = Iterable[tuple[Ids, Scores]]

CUT = 5  # places whose ties and heads are counted
IN_ORDER = 5  # items that such a list has at least: by chance, one of 120 lists is in the order of the rows
BLOCK = 8_192  # vectors at a time


def says_nothing(items: Ids, scores: Scores) -> NDArray[np.bool_]:
    """Return (Q,) whether a list has equal scores or NaN: its order is then that of the rows. Of fewer than five items,
    which may be all that is found, a list also has the first rows. Lists (Q, k) may end early, in item 0."""
    both = items[:, 1:] != 0
    falls = both & (scores[:, 1:] < scores[:, :-1])
    first = np.isin(items, np.unique(items[items != 0])[: items.shape[1]]) | (items == 0)
    return both.any(1) & ~falls.any(1) & (first.all(1) | (both.sum(1) >= IN_ORDER - 1))


def report_lists(blocks: Blocks, n_items: int) -> Figures:
    """Return the figures of one direction from blocks of items and scores, (Q, k) each, of a gallery of ``n_items``.

    Shares of lists: ``blind`` (``says_nothing``), ``tied`` (places 5 and 6 have one score), ``in_order`` (items in the
    order of the rows) and ``same`` (the commonest list, by its first five places). Of the items: ``skewness`` of their
    occurrences, the share of lists that the commonest, ``hub_item``, is in, ``hub``, and the share that is in no list,
    ``unfound``, with what lists by chance would leave, ``unfound_by_chance``.
    """
    lists = 0
    sums = dict.fromkeys(("blind", "tied", "in_order"), 0)
    heads = [np.empty(0, np.uint64)]
    ids, times = np.empty(0, np.int64), np.empty(0, np.int64)
    for items, scores in blocks:
        both = items[:, 1:] != 0  # lists end once
        lists += len(items)
        sums["blind"] += int(says_nothing(items, scores).sum())
        sums["tied"] += int((both & (scores[:, 1:] == scores[:, :-1]))[:, CUT - 1 : CUT].sum())
        rising = (~both | (items[:, 1:] > items[:, :-1])).all(1)
        sums["in_order"] += int((rising & (both.sum(1) >= IN_ORDER - 1)).sum())
        heads.append(_hashed(items[:, :CUT]))
        ids, times = _with_more(ids, times, items[items != 0])
    same = np.unique(np.concatenate(heads), return_counts=True)[1]
    return {
        "lists": lists,
        **{name: number / max(1, lists) for name, number in sums.items()},
        "same": int(same.max(initial=0)) / max(1, lists),
        "skewness": skewness(np.concatenate([times, np.zeros(n_items - len(ids))])),
        "hub": int(times.max(initial=0)) / max(1, lists),
        "hub_item": int(ids[times.argmax()]) if len(ids) else None,
        "unfound": 1 - len(ids) / n_items,
        "unfound_by_chance": exp(times.sum() * log1p(-1 / n_items)) if n_items > 1 else 0.0,
    }


def report_vectors(vectors: NDArray) -> Figures:
    """Return the number of vectors, the share that is a copy of another (``copies``), and the length of the mean of all
    at length 1: 1 where they have one direction (``alike``). A vector of zeros has none."""
    total = np.zeros(vectors[0].size)
    hashes: set[int] = set()
    for start in range(0, len(vectors), BLOCK):
        rows = np.ascontiguousarray(vectors[start : start + BLOCK].reshape(-1, total.size), np.float32)
        sizes = np.linalg.norm(rows, axis=1)
        total += np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0) @ rows
        hashes.update(hash(row.tobytes()) for row in rows)
    return {
        "vectors": len(vectors),
        "copies": 1 - len(hashes) / len(vectors),
        "alike": float(np.linalg.norm(total)) / len(vectors),
    }


def _hashed(rows: NDArray) -> NDArray[np.uint64]:
    """Return a number for each row of whole numbers: other rows have another one, as good as surely."""
    odd = np.random.default_rng(0).integers(2**64, size=rows.shape[1], dtype=np.uint64) | np.uint64(1)
    hashes: NDArray[np.uint64] = (rows.astype(np.uint64) * odd).sum(1, dtype=np.uint64)
    return hashes


def _with_more(ids: Ids, times: Ids, more: Ids) -> tuple[Ids, Ids]:
    found, of_found = np.unique(more, return_counts=True)
    every, place = np.unique(np.concatenate([ids, found]), return_inverse=True)
    return every, np.bincount(place, np.concatenate([times, of_found]), len(every)).astype(np.int64)
