"""Scan tiles of approximate scores for what may belong to the k best, in compiled loops over raw score bits.

A score is compared as its key: the bits of a float (16 for bfloat16, 32 for float32) as a signed integer, those of
negative numbers flipped, which orders like the scores. Every query keeps a short buffer of candidates. When it is
full, the k-th best key in it less the query's margin becomes the threshold that further candidates must reach.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, prange, types
from numba.extending import intrinsic
from numpy.typing import NDArray

SMALLEST_BUFFER = 160
STEP = 32  # scores compared at once
STRIPE = 512  # columns a thread scans at a time: their thresholds stay in its nearest cache

Keys = NDArray[np.int16] | NDArray[np.int32]


class Buffers(NamedTuple):
    """The candidates of n queries in one direction, at most B each, and the rule by which they enter.

    ``thresholds`` (n,): the least key that may enter. ``entries`` (n, B), the first ``counts`` of a row filled: a
    candidate's key in the upper half, the complement of its place in the lower, so that entries order by falling
    score, then by rising place. A true member of the k best may score lower than the k-th best
    seen by ``margins + relative * |score|``, and by no more. With ``strict`` scores are final and margins zero: of
    equal scores the first k stay, which are the right ones, since places come in ascending order.
    """

    thresholds: Keys
    counts: NDArray[np.int32]
    entries: NDArray[np.int64]
    margins: NDArray[np.float64]
    overflowed: NDArray[np.bool_]
    relative: float
    strict: bool
    k: int


def open_buffers(
    margins: NDArray[np.float64], entries: NDArray[np.int64], k: int, key_type: type, *, relative: float, strict: bool
) -> Buffers:
    """Return empty buffers, a query a margin, in the memory of ``entries`` (at least n, B)."""
    n = len(margins)
    return Buffers(
        thresholds=np.full(n, np.iinfo(key_type).min, key_type),
        counts=np.zeros(n, np.int32),
        entries=entries[:n],
        margins=margins,
        overflowed=np.zeros(n, np.bool_),
        relative=relative,
        strict=strict,
        k=k,
    )


def buffer_size(k: int) -> int:
    """Return how many candidates of a query are kept: margins keep about twice k of them."""
    return max(SMALLEST_BUFFER, 4 * k)


@njit(parallel=True, cache=True, nogil=True)
def scan_rows(tile, at, first_column, rows):
    """Take from a tile of score bits (R, C) the candidates of queries ``at`` to ``at + R``.

    Columns are places ``first_column`` and on.
    """
    for r in prange(tile.shape[0]):
        if rows.thresholds[at + r] == np.iinfo(tile.dtype).min:
            _start_row(tile[r], at + r, rows)
        _scan_row(tile[r], at + r, first_column, rows)


@njit(parallel=True, cache=True, nogil=True)
def scan_columns(tile, at, first_row, columns):
    """Take from a tile of score bits (R, C) the candidates of queries ``at`` to ``at + C``.

    Rows are places ``first_row`` and on.
    """
    for stripe in prange((tile.shape[1] + STRIPE - 1) // STRIPE):
        first, stop = stripe * STRIPE, min(stripe * STRIPE + STRIPE, tile.shape[1])
        if columns.thresholds[at + first] == np.iinfo(tile.dtype).min:
            _start_stripe(tile[:, first:stop], at + first, columns)
        _scan_stripe(tile[:, first:stop], at + first, first_row, columns)


@njit(cache=True, nogil=True)
def seed(buffers, kth_scores):
    """Let in only what may beat the k-th best final scores (n,) that are known already; -inf where none is."""
    for query in range(len(kth_scores)):
        if kth_scores[query] > -np.inf:
            key = (
                _key_of(kth_scores[query], buffers) + 1
                if buffers.strict
                else _reached(kth_scores[query], query, buffers)
            )
            buffers.thresholds[query] = key


@njit(cache=True, nogil=True)
def thin(query, buffers):
    """Raise a query's threshold to what its candidates allow, drop those below it, and return how many stay."""
    count, entries = buffers.counts[query], buffers.entries[query]
    if count <= buffers.k:
        return count
    if buffers.strict:
        least = np.partition(entries[:count], count - buffers.k)[count - buffers.k]
        buffers.thresholds[query] = (least >> 32) + 1
    else:
        kth = _kth_key(entries, count, buffers.k, 8 * buffers.thresholds.itemsize)
        buffers.thresholds[query] = max(buffers.thresholds[query], _lowered(kth, query, buffers))
        least = np.int64(buffers.thresholds[query]) << 32
    kept = 0
    for place in range(count):
        entry = entries[place]
        entries[kept] = entry
        kept += entry >= least
    buffers.counts[query] = kept
    return kept


@njit(cache=True, nogil=True)
def _scan_row(scores, query, first_column, rows):
    kind = scores.dtype.type
    shift, mask = kind(8 * scores.itemsize - 1), kind(np.iinfo(scores.dtype).max)
    entries, count = rows.entries[query], rows.counts[query]
    threshold = rows.thresholds[query]
    for start in range(0, len(scores), STEP):
        stop = min(start + STEP, len(scores))
        hits = _reaching(scores, start, stop, threshold, kind, shift, mask)
        while hits:
            c = start + _trailing_zeros(hits)
            hits &= hits - np.uint32(1)
            if count == len(entries):
                rows.counts[query] = count
                count, threshold = _make_room(query, rows)
            key = _key(scores[c], kind, shift, mask)
            if key >= threshold:
                entries[count] = _entry(key, first_column + c)
                count += 1
    rows.counts[query] = count


@njit(cache=True, nogil=True)
def _scan_stripe(tile, at, first_row, columns):
    kind = tile.dtype.type
    shift, mask = kind(8 * tile.itemsize - 1), kind(np.iinfo(tile.dtype).max)
    n_rows, width = tile.shape
    thresholds, counts = columns.thresholds[at : at + width], columns.counts[at : at + width]
    entries, size = columns.entries[at : at + width], columns.entries.shape[1]
    positive = (thresholds >= 0).all()
    for r in range(n_rows):
        scores = tile[r]
        for start in range(0, width, STEP):
            stop = min(start + STEP, width)
            hits = _reaching_each(scores, start, stop, thresholds, positive, kind, shift, mask)
            while hits:
                c = start + _trailing_zeros(hits)
                hits &= hits - np.uint32(1)
                if counts[c] == size:
                    _make_room(at + c, columns)
                key = _key(scores[c], kind, shift, mask)
                if key >= thresholds[c]:
                    entries[c, counts[c]] = _entry(key, first_row + r)
                    counts[c] += 1


@njit(inline="always")
def _reaching(scores, start, stop, threshold, kind, shift, mask):
    """The places from ``start``, as bits of a number, of the scores that reach a threshold."""
    bits, found = np.uint32(0), False
    if stop - start < STEP:
        for c in range(stop - start):
            bits |= np.uint32(_key(scores[start + c], kind, shift, mask) >= threshold) << np.uint32(c)
        return bits
    if threshold >= 0:  # only positive scores reach it then, whose bits are their keys
        for c in range(STEP):
            found |= scores[start + c] >= threshold
    else:
        for c in range(STEP):
            found |= _key(scores[start + c], kind, shift, mask) >= threshold
    if found:
        for c in range(STEP):
            bits |= np.uint32(_key(scores[start + c], kind, shift, mask) >= threshold) << np.uint32(c)
    return bits


@njit(inline="always")
def _reaching_each(scores, start, stop, thresholds, positive, kind, shift, mask):
    """As ``_reaching``, every score with a threshold of its own; ``positive``: whether all of them are."""
    bits, found = np.uint32(0), False
    if stop - start < STEP:
        for c in range(stop - start):
            bits |= np.uint32(_key(scores[start + c], kind, shift, mask) >= thresholds[start + c]) << np.uint32(c)
        return bits
    if positive:
        for c in range(STEP):
            found |= scores[start + c] >= thresholds[start + c]
    else:
        for c in range(STEP):
            found |= _key(scores[start + c], kind, shift, mask) >= thresholds[start + c]
    if found:
        for c in range(STEP):
            bits |= np.uint32(_key(scores[start + c], kind, shift, mask) >= thresholds[start + c]) << np.uint32(c)
    return bits


@njit(cache=True, nogil=True)
def _make_room(query, buffers):
    """Thin a full buffer; give up on the query where nearly all of it stays. Returns its count and threshold."""
    if thin(query, buffers) > buffers.entries.shape[1] - STEP // 4:
        buffers.overflowed[query] = True
        buffers.thresholds[query] = np.iinfo(buffers.thresholds.dtype).max
    return buffers.counts[query], buffers.thresholds[query]


@njit(cache=True, nogil=True)
def _start_row(scores, query, rows):
    """Give a fresh query a first threshold: k of the scores reach the k-th best of the lanes' best."""
    kind = scores.dtype.type
    shift, mask = kind(8 * scores.itemsize - 1), kind(np.iinfo(scores.dtype).max)
    lanes = _lanes(rows.k)
    best = np.full(lanes, np.iinfo(scores.dtype).min, scores.dtype)
    for start in range(0, len(scores) - lanes + 1, lanes):
        for lane in range(lanes):
            best[lane] = max(best[lane], _key(scores[start + lane], kind, shift, mask))
    rows.thresholds[query] = _lowered(np.partition(best, lanes - rows.k)[lanes - rows.k], query, rows)


@njit(cache=True, nogil=True)
def _start_stripe(tile, at, columns):
    """As ``_start_row``; a column's lanes are its rows modulo their number."""
    kind = tile.dtype.type
    shift, mask = kind(8 * tile.itemsize - 1), kind(np.iinfo(tile.dtype).max)
    lanes = _lanes(columns.k)
    best = np.full((lanes, tile.shape[1]), np.iinfo(tile.dtype).min, tile.dtype)
    for r in range(tile.shape[0] // lanes * lanes):
        scores, lane = tile[r], best[r % lanes]
        for c in range(tile.shape[1]):
            lane[c] = max(lane[c], _key(scores[c], kind, shift, mask))
    by_column = best.T.copy()
    for c in range(tile.shape[1]):
        kth = np.partition(by_column[c], lanes - columns.k)[lanes - columns.k]
        columns.thresholds[at + c] = _lowered(kth, at + c, columns)


@njit(cache=True, nogil=True)
def _lanes(k):
    return -(-2 * k // 32) * 32


@njit(inline="always")
def _key(bits, kind, shift, mask):
    """Flip the bits of negative numbers, so that signed integers order like the floats."""
    return kind(bits ^ kind(kind(bits >> shift) & mask))


@njit(cache=True, nogil=True)
def _kth_key(entries, count, k, bits):
    """Find the k-th largest key by bisection: the loop inside compares many at once, unlike any sort."""
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    while low < high:
        middle = (low + high + 1) >> 1
        least, found = np.int64(middle) << 32, 0
        for place in range(count):
            found += entries[place] >= least
        if found >= k:
            low = middle
        else:
            high = middle - 1
    return low


@intrinsic
def _trailing_zeros(typing_context, bits):
    """The place of the lowest bit that is set, of a number that is not zero: one instruction."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint32(types.uint32), build


@njit(inline="always")
def _entry(key, place):
    return (np.int64(key) << 32) | (np.int64(place) ^ 0xFFFFFFFF)


@njit(cache=True, nogil=True)
def _lowered(key, query, buffers):
    """The key that a true member of the k best reaches at least, if this is the k-th best key seen."""
    if buffers.strict:
        return key
    whole, bits = np.int32(key << _spare_bits(buffers)), np.empty(1, np.int32)
    bits[0] = whole ^ ((whole >> 31) & 0x7FFFFFFF)
    return _reached(bits.view(np.float32)[0], query, buffers)


@njit(cache=True, nogil=True)
def _reached(score, query, buffers):
    lowest = score - buffers.margins[query] - buffers.relative * abs(score)
    # One less for the rounding of this very subtraction; never the key that marks a fresh query.
    return max(_key_of(lowest, buffers) - 1, np.iinfo(buffers.thresholds.dtype).min + 1)


@njit(cache=True, nogil=True)
def _key_of(score, buffers):
    """The key of a score, rounded down to the precision of keys."""
    nearest = np.empty(1, np.float32)
    nearest[0] = score
    bits = nearest.view(np.int32)[0]
    return np.int64(bits ^ ((bits >> 31) & 0x7FFFFFFF)) >> _spare_bits(buffers)


@njit(inline="always")
def _spare_bits(buffers):
    return 32 - 8 * buffers.thresholds.itemsize
