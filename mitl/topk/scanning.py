"""Scan tiles of approximate scores for what may belong to the k best, in compiled loops over raw score bits.

A score is compared as its key: the bits of a float (16 for bfloat16, 32 for float32) as a signed integer, those of
negative numbers flipped, which orders like the scores. Every query keeps a short buffer of candidates. When it is
full, the k-th best key in it less the query's margin becomes the threshold that further candidates must reach.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from mitl.topk.comparing import STEP, reaching, reaching_each, trailing_zeros

SMALLEST_BUFFER = 160
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
def make_keys(tile):
    """Turn the bits of scores into keys, in place: those of negative ones are flipped, but for the sign."""
    kind = tile.dtype.type
    shift, mask = kind(8 * tile.itemsize - 1), kind(np.iinfo(tile.dtype).max)
    for r in prange(tile.shape[0]):
        bits = tile[r]
        for c in range(len(bits)):
            bits[c] = kind(bits[c] ^ kind(kind(bits[c] >> shift) & mask))


@njit(parallel=True, cache=True, nogil=True)
def scan_rows(tile, at, first_column, rows):
    """Take from a tile of keys (R, C) the candidates of queries ``at`` to ``at + R``.

    Columns are places ``first_column`` and on.
    """
    for r in prange(tile.shape[0]):
        if rows.thresholds[at + r] == np.iinfo(tile.dtype).min:
            _start_row(tile[r], at + r, rows)
        _scan_row(tile[r], at + r, first_column, rows)


@njit(parallel=True, cache=True, nogil=True)
def scan_columns(tile, at, first_row, columns):
    """Take from a tile of keys (R, C) the candidates of queries ``at`` to ``at + C``.

    Rows are places ``first_row`` and on.
    """
    for stripe in prange((tile.shape[1] + STRIPE - 1) // STRIPE):
        first, stop = stripe * STRIPE, min(stripe * STRIPE + STRIPE, tile.shape[1])
        if columns.thresholds[at + first] == np.iinfo(tile.dtype).min:
            _start_stripe(tile[:, first:stop], at + first, columns)
        _scan_stripe(tile, first, stop, at, first_row, columns)


@njit(parallel=True, cache=True, nogil=True)
def enter(queries, keys, places, buffers):
    """Add candidates that were found elsewhere, ordered by query and then by place."""
    first, last = queries[0], queries[-1]
    starts = np.searchsorted(queries, np.arange(first, last + 2))
    for query in prange(first, last + 1):
        _enter(query, keys[starts[query - first] : starts[query - first + 1]], places[starts[query - first] :], buffers)


@njit(cache=True, nogil=True)
def _enter(query, keys, places, buffers):
    for number in range(len(keys)):
        if buffers.counts[query] == buffers.entries.shape[1]:
            _make_room(query, buffers)
        if keys[number] >= buffers.thresholds[query]:
            buffers.entries[query, buffers.counts[query]] = _entry(keys[number], places[number])
            buffers.counts[query] += 1


@njit(cache=True, nogil=True)
def start(first_query, kth_keys, buffers):
    """Give fresh queries their first thresholds: keys that k of their scores reach."""
    for number in range(len(kth_keys)):
        query = first_query + number
        if buffers.thresholds[query] == np.iinfo(buffers.thresholds.dtype).min:
            buffers.thresholds[query] = _lowered(kth_keys[number], query, buffers)


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
def _scan_row(keys, query, first_column, rows):
    entries, count = rows.entries[query], rows.counts[query]
    threshold = rows.thresholds[query]
    for start in range(0, len(keys), STEP):
        hits = _reaching(keys, start, threshold)
        while hits:
            c = start + trailing_zeros(hits)
            hits &= hits - np.uint32(1)
            if count == len(entries):
                rows.counts[query] = count
                count, threshold = _make_room(query, rows)
            entries[count] = _entry(keys[c], first_column + c)
            count += 1
    rows.counts[query] = count


@njit(cache=True, nogil=True)
def _scan_stripe(tile, first, stop, at, first_row, columns):
    thresholds, counts = columns.thresholds[at:], columns.counts[at:]
    entries, size = columns.entries[at:], columns.entries.shape[1]
    for r in range(tile.shape[0]):
        keys = tile[r, :stop]
        for start in range(first, stop, STEP):
            hits = _reaching_each(keys, start, thresholds)
            while hits:
                # Unsigned, an index is not looked at for being negative.
                c = np.uint64(start) + np.uint64(trailing_zeros(hits))
                hits &= hits - np.uint32(1)
                if counts[c] == size:
                    _make_room(at + c, columns)
                count = np.uint64(counts[c])
                entries[c, count] = _entry(keys[c], first_row + r)
                counts[c] = count + np.uint64(1)


@njit(inline="always")
def _reaching(keys, start, threshold):
    """The places from ``start``, as bits of a number, of the keys that reach a threshold; STEP at most."""
    bits = np.uint32(0)
    if len(keys) - start >= STEP:
        bits = reaching(keys, start, threshold)
    else:
        for c in range(len(keys) - start):
            bits |= np.uint32(keys[start + c] >= threshold) << np.uint32(c)
    return bits


@njit(inline="always")
def _reaching_each(keys, start, thresholds):
    """As ``_reaching``, every key with a threshold of its own."""
    bits = np.uint32(0)
    if len(keys) - start >= STEP:
        bits = reaching_each(keys, start, thresholds)
    else:
        for c in range(len(keys) - start):
            bits |= np.uint32(keys[start + c] >= thresholds[start + c]) << np.uint32(c)
    return bits


@njit(cache=True, nogil=True)
def _make_room(query, buffers):
    """Thin a full buffer; give up on the query where nearly all of it stays. Returns its count and threshold."""
    if thin(query, buffers) > buffers.entries.shape[1] - STEP // 4:
        buffers.overflowed[query] = True
        buffers.counts[query] = 0
        buffers.thresholds[query] = np.iinfo(buffers.thresholds.dtype).max
    return buffers.counts[query], buffers.thresholds[query]


@njit(cache=True, nogil=True)
def _start_row(keys, query, rows):
    """Give a fresh query a first threshold: k of the keys reach the k-th best of the lanes' best."""
    lanes = _lanes(rows.k)
    best = np.full(lanes, np.iinfo(keys.dtype).min, keys.dtype)
    for start in range(0, len(keys) - lanes + 1, lanes):
        for lane in range(lanes):
            best[lane] = max(best[lane], keys[start + lane])
    rows.thresholds[query] = _lowered(_kth_best(best, rows.k), query, rows)


@njit(cache=True, nogil=True)
def _start_stripe(tile, at, columns):
    """As ``_start_row``; a column's lanes are its rows modulo their number."""
    lanes = _lanes(columns.k)
    best = np.full((lanes, tile.shape[1]), np.iinfo(tile.dtype).min, tile.dtype)
    for r in range(tile.shape[0] // lanes * lanes):
        keys, lane = tile[r], best[r % lanes]
        for c in range(tile.shape[1]):
            lane[c] = max(lane[c], keys[c])
    by_column = best.T.copy()
    for c in range(tile.shape[1]):
        if columns.thresholds[at + c] == np.iinfo(tile.dtype).min:
            kth = _kth_best(by_column[c], columns.k)
            columns.thresholds[at + c] = _lowered(kth, at + c, columns)


@njit(cache=True, nogil=True)
def _lanes(k):
    return -(-2 * k // 32) * 32


@njit(cache=True, nogil=True)
def _kth_best(keys, k):
    """Find the k-th largest of some keys by bisection, as ``_kth_key`` does."""
    kind = keys.dtype.type
    low, high = np.int64(np.iinfo(keys.dtype).min), np.int64(np.iinfo(keys.dtype).max)
    while low < high:
        middle, found = (low + high + 1) >> 1, np.int32(0)
        for place in range(len(keys)):
            found += np.int32(keys[place] >= kind(middle))
        if found >= k:
            low = middle
        else:
            high = middle - 1
    return low


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
