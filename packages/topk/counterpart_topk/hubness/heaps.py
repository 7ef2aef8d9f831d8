"""Compiled heaps: the best places of many queries, and the walkers that match next. Imported where it is used, as numba
takes half a second and 70 MB."""

import numpy as np
from numba import njit, prange


@njit(cache=True)
def _is_worse(score, item, than_score, than_item):  # type: ignore[no-untyped-def]
    return score < than_score or (score == than_score and item > than_item)


@njit(parallel=True, cache=True)
def offer(  # type: ignore[no-untyped-def]
    block, rows, queries, first, is_open, after_scores, after_items, items, scores, sizes
):
    """Offer a block of scores to the heaps of its queries; the items are columns from ``first`` on."""
    for n in prange(len(rows)):
        q = queries[n]
        for column in range(block.shape[1]):
            score = np.float64(block[rows[n], column])
            item = first + column
            full = sizes[q] == items.shape[1]
            if full and score < scores[q, 0]:
                continue
            if is_open[column] and _is_worse(score, item, after_scores[q], after_items[q]):
                if not full:
                    _push(items[q], scores[q], sizes[q], item, score)
                    sizes[q] += 1
                elif _is_worse(scores[q, 0], items[q, 0], score, item):
                    _sink(items[q], scores[q], sizes[q], item, score)


@njit(cache=True)
def _push(items, scores, size, item, score):  # type: ignore[no-untyped-def]
    """Add to a heap whose root is its worst place."""
    at = size
    while at > 0 and _is_worse(score, item, scores[(at - 1) // 2], items[(at - 1) // 2]):
        above = (at - 1) // 2
        items[at] = items[above]
        scores[at] = scores[above]
        at = above
    items[at] = item
    scores[at] = score


@njit(cache=True)
def _sink(items, scores, size, item, score):  # type: ignore[no-untyped-def]
    """Replace the root by a place, and let it sink until the worst is the root again."""
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _is_worse(scores[below + 1], items[below + 1], scores[below], items[below]):
            below += 1
        if not _is_worse(scores[below], items[below], score, item):
            break
        items[at] = items[below]
        scores[at] = scores[below]
        at = below
    items[at] = item
    scores[at] = score


@njit(parallel=True, cache=True)
def settle(items, scores, sizes):  # type: ignore[no-untyped-def]
    """Sort every heap in place, best first."""
    for q in prange(len(sizes)):
        for last in range(sizes[q] - 1, 0, -1):
            item = items[q, last]
            score = scores[q, last]
            items[q, last] = items[q, 0]
            scores[q, last] = scores[q, 0]
            _sink(items[q], scores[q], last, item, score)


@njit(cache=True)
def walk(  # type: ignore[no-untyped-def]
    items, best, at, walkers, walkers_left, items_left, by_rows, pairs, scores, done
):
    """Match from the best head of all lists down, until all pairs are matched or an incomplete list runs out.

    ``at`` is each walker's place in its list. The heap holds the walkers that may still match, by their current
    places; a walker at the end of its list keeps the last place, before which nothing is missing.
    """
    depth = items.shape[1]
    heap = np.arange(len(walkers))
    size = len(heap)
    for start in range(size // 2 - 1, -1, -1):
        _sift(heap, size, start, items, best, at, by_rows)
    while size > 0 and done < len(pairs):
        top = heap[0]
        if at[top] == depth:
            return done
        walker = walkers[top]
        item = items[top, at[top]]
        if item >= 0 and items_left[item] > 0:
            pairs[done, 0] = walker
            pairs[done, 1] = item
            scores[done] = best[top, at[top]]
            walkers_left[walker] -= 1
            items_left[item] -= 1
            done += 1
        if item < 0 or walkers_left[walker] == 0:
            size -= 1
            heap[0] = heap[size]
        else:
            at[top] += 1
        _sift(heap, size, 0, items, best, at, by_rows)
    return done


@njit(cache=True)
def _sift(heap, size, start, items, best, at, by_rows):  # type: ignore[no-untyped-def]
    """Let one walker sink until the heap's root is the next to match."""
    above = start
    moving = heap[start]
    while 2 * above + 1 < size:
        below = 2 * above + 1
        if below + 1 < size and _comes_first(heap[below + 1], heap[below], items, best, at, by_rows):
            below += 1
        if not _comes_first(heap[below], moving, items, best, at, by_rows):
            break
        heap[above] = heap[below]
        above = below
    heap[above] = moving


@njit(cache=True)
def _comes_first(one, other, items, best, at, by_rows):  # type: ignore[no-untyped-def]
    """Whether one walker's place is before another's: the higher score, then the lower row, then the lower column."""
    x = min(at[one], items.shape[1] - 1)
    y = min(at[other], items.shape[1] - 1)
    if best[one, x] != best[other, y]:
        return best[one, x] > best[other, y]
    if by_rows or items[one, x] == items[other, y]:
        return one < other
    return items[one, x] < items[other, y]
