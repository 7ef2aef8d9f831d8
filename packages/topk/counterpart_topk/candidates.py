"""Candidates for the k best: found by scanning tiles of approximate scores, in compiled loops over raw score bits.

A score is compared as its key: a whole number, or the bits of a float (16 for bfloat16, 32 for float32) as a signed
integer, those of negative numbers flipped, so that keys are ordered like scores. Every query keeps a short buffer of
candidates. When it is full, the k-th best key in it minus the query's margin becomes the threshold for further ones.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

SMALLEST_BUFFER = 160
SLACK = 8  # places that must be free in a buffer after thinning
STRIPE = 512  # columns a thread scans at a time: their thresholds stay in its nearest cache; a multiple of 8

Keys = NDArray[np.int16] | NDArray[np.int32]


class Buffers(NamedTuple):
    """The candidates of n queries in one direction, at most B each, and the threshold for entering.

    ``thresholds`` (n,): the smallest key that may enter. ``entries`` (n, B), the first ``counts`` of a row in use: a
    candidate's key in the upper half, the complement of its place in the lower, so that entries are ordered by falling
    score, then by rising place. Keys are the bits of scores where ``unit`` is 0; otherwise they count units. A true
    member of the k best may score lower than the k-th best found, by at most ``margins + relative * |score|``.
    ``first_place``: that of the first item of the tile that is scanned.
    """

    thresholds: Keys
    counts: NDArray[np.int32]
    entries: NDArray[np.int64]
    margins: NDArray[np.float64]
    overflowed: NDArray[np.bool_]
    relative: float
    unit: float
    k: int
    first_place: int = 0

    def of_tile(self, queries: slice, first_place: int) -> "Buffers":
        """Return the buffers of some queries, for a tile whose items begin at a place."""
        return self._replace(
            thresholds=self.thresholds[queries],
            counts=self.counts[queries],
            entries=self.entries[queries],
            margins=self.margins[queries],
            overflowed=self.overflowed[queries],
            first_place=first_place,
        )


def open_buffers(
    margins: NDArray[np.float64], entries: NDArray[np.int64], k: int, key_type: type, *, relative: float, unit: float
) -> Buffers:
    """Return empty buffers, one a margin, in the memory of ``entries`` (at least n, B)."""
    n = len(margins)
    return Buffers(
        thresholds=np.full(n, np.iinfo(key_type).min, key_type),
        counts=np.zeros(n, np.int32),
        entries=entries[:n],
        margins=margins,
        overflowed=np.zeros(n, np.bool_),
        relative=relative,
        unit=unit,
        k=k,
    )


def buffer_size(k: int) -> int:
    """Return the number of candidates kept a query; about 2 k of them are within the margin."""
    return max(SMALLEST_BUFFER, 4 * k)


@njit(parallel=True, cache=True, nogil=True)
def scan_tile(tile, rows, columns, parts):
    """Collect the candidates of all rows and columns of a tile of score bits (R, C), cut into parts both ways.

    In a turn no two threads share a row or a column.
    """
    _start_tile(tile, rows, columns)
    tall = (tile.shape[0] + parts - 1) // parts
    wide = (tile.shape[1] + parts - 1) // parts
    for turn in range(parts):
        for part in prange(parts):
            top = np.int64(part) * tall
            left = (np.int64(part) + turn) % parts * wide
            right = min(left + wide, tile.shape[1])
            scan_block(tile[top : top + tall], left, right, top, left, rows, columns)


@njit(parallel=True, cache=True, nogil=True)
def _start_tile(tile, rows, columns):
    """Set the first thresholds of new queries from all of a tile: the more items, the fewer candidates."""
    new = np.iinfo(tile.dtype).min
    if rows.thresholds[0] == new:
        for row in prange(tile.shape[0]):
            start_rows(tile[row : row + 1], 0, tile.shape[1], np.int64(row), rows)
    if columns.thresholds[0] == new:
        for stripe in prange((tile.shape[1] + STRIPE - 1) // STRIPE):
            left = np.int64(stripe) * STRIPE
            start_columns(tile, left, min(left + STRIPE, tile.shape[1]), left, columns)


@njit(cache=True, nogil=True)
def scan_block(bits, left, right, first_row, first_column, rows, columns):
    """As ``scan_tile``, in one thread, of the columns ``left`` to ``right`` of a block that begins in a tile there."""
    flags = np.zeros(STRIPE, np.bool_)
    hits = np.empty(STRIPE + 1, np.int64)
    for start in range(left, right, STRIPE):
        stop = min(start + STRIPE, right)
        column = first_column + start - left
        _scan_stripe(bits, start, stop, first_row, column, rows, columns, flags, hits)


@njit(cache=True, nogil=True)
def _scan_stripe(bits, start, stop, first_row, column, rows, columns, flags, hits):
    """As ``scan_block``, of at most STRIPE columns."""
    kind = bits.dtype.type
    flip = _flip(rows, kind)
    width = stop - start
    thresholds = columns.thresholds[column : column + width]
    for r in range(len(bits)):
        row = bits[r, start:stop]
        threshold = rows.thresholds[first_row + r]
        for c in range(width):
            flags[c] = _key(row[c], flip, kind) >= min(threshold, thresholds[c])
        for number in range(_set_flags(flags, width, hits)):
            c = hits[number]
            key = _key(row[c], flip, kind)
            if key >= rows.thresholds[first_row + r]:
                _enter(key, rows.first_place + column + c, first_row + r, rows)
            if key >= thresholds[c]:
                _enter(key, columns.first_place + first_row + r, column + c, columns)


@njit(inline="always")
def _flip(buffers, kind):
    """Return the bits of a negative score to be flipped for its key: all but the sign where keys are bits of floats."""
    return kind(0) if buffers.unit else kind(np.iinfo(buffers.thresholds.dtype).max)


@njit(inline="always")
def _key(bits, flip, kind):
    return kind(bits ^ flip) if bits < 0 else bits


@njit(cache=True, nogil=True)
def seed(buffers, kth_scores):
    """Set thresholds from the k-th best final scores (n,) of earlier strips; -inf where there is none."""
    for query in range(len(kth_scores)):
        if kth_scores[query] > -np.inf:
            buffers.thresholds[query] = _reached(kth_scores[query], query, buffers)


@njit(parallel=True, cache=True, nogil=True)
def candidates_of(buffers):
    """Return how many candidates each query has (n,), an overflowed one 0, and their places, query after query."""
    counts = np.zeros(len(buffers.counts), np.int64)
    for query in prange(len(counts)):
        if not buffers.overflowed[query]:
            counts[query] = _thin(np.int64(query), buffers)
    stops = np.cumsum(counts)
    places = np.empty(stops[-1], np.int64)
    for query in prange(len(counts)):
        entries = buffers.entries[query, : counts[query]]
        for number in range(len(entries)):
            places[stops[query] - len(entries) + number] = (entries[number] & 0xFFFFFFFF) ^ 0xFFFFFFFF
    return counts, places


@njit(cache=True, nogil=True)
def _thin(query, buffers):
    """Raise a query's threshold as far as its candidates allow, drop those below it, and return how many are left."""
    count = buffers.counts[query]
    entries = buffers.entries[query]
    if count <= buffers.k:
        return count
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
def _set_flags(flags, n, hits):
    """Write the places of the set flags among the first n into ``hits``, and return how many there are.

    Few are set, so eight are read at once.
    """
    flags[n:] = False
    words = flags.view(np.uint64)
    count = 0
    for word in range((n + 7) // 8):
        if words[word]:
            for place in range(8 * word, 8 * word + 8):
                hits[count] = place
                count += flags[place]
    return count


@njit(inline="always")
def _enter(key, place, query, buffers):
    """Add a candidate, to a full buffer after thinning it. Inlined, as a call would copy all buffers' descriptions."""
    if buffers.counts[query] == buffers.entries.shape[1]:
        _make_room(query, buffers)
    buffers.entries[query, buffers.counts[query]] = (np.int64(key) << 32) | (np.int64(place) ^ 0xFFFFFFFF)
    buffers.counts[query] += 1


@njit(cache=True, nogil=True)
def _make_room(query, buffers):
    """Thin a full buffer; mark the query as overflowed if nearly all stay."""
    if _thin(query, buffers) > buffers.entries.shape[1] - SLACK:
        buffers.overflowed[query] = True
        buffers.counts[query] = 0
        buffers.thresholds[query] = np.iinfo(buffers.thresholds.dtype).max


@njit(cache=True, nogil=True)
def start_rows(bits, left, right, first_row, rows):
    """Set the first thresholds of new queries: k of the keys reach the k-th best of the maxima of the lanes."""
    new = np.iinfo(bits.dtype).min
    kind = bits.dtype.type
    flip = _flip(rows, kind)
    lanes = _lanes(rows.k)
    for r in range(len(bits)):
        if rows.thresholds[first_row + r] == new:
            best = np.full(lanes, new, bits.dtype)
            for start in range(left, right - lanes + 1, lanes):
                part = bits[r, start : start + lanes]
                for lane in range(lanes):
                    best[lane] = max(best[lane], _key(part[lane], flip, kind))
            rows.thresholds[first_row + r] = _lowered(_kth_best(best, rows.k), first_row + r, rows)


@njit(cache=True, nogil=True)
def start_columns(bits, left, right, first_column, columns):
    """As ``start_rows``; a column's lanes are its rows modulo their number."""
    new = np.iinfo(bits.dtype).min
    thresholds = columns.thresholds[first_column : first_column + right - left]
    if thresholds[0] != new:
        return
    kind = bits.dtype.type
    flip = _flip(columns, kind)
    lanes = _lanes(columns.k)
    best = np.full((lanes, right - left), new, bits.dtype)
    for r in range(len(bits) // lanes * lanes):
        row = bits[r, left:right]
        lane = best[r % lanes]
        for c in range(len(row)):
            lane[c] = max(lane[c], _key(row[c], flip, kind))
    by_column = best.T.copy()
    for c in range(len(thresholds)):
        if thresholds[c] == new:
            thresholds[c] = _lowered(_kth_best(by_column[c], columns.k), first_column + c, columns)


@njit(cache=True, nogil=True)
def _lanes(k):
    return (2 * k + 31) // 32 * 32


@njit(cache=True, nogil=True)
def _kth_best(keys, k):
    """Find the k-th largest of some keys by bisection, as ``_kth_key`` does."""
    kind = keys.dtype.type
    low = np.int64(np.iinfo(keys.dtype).min)
    high = np.int64(np.iinfo(keys.dtype).max)
    while low < high:
        middle = (low + high + 1) >> 1
        count = np.int32(0)
        for place in range(len(keys)):
            count += np.int32(keys[place] >= kind(middle))
        if count >= k:
            low = middle
        else:
            high = middle - 1
    return low


@njit(cache=True, nogil=True)
def _kth_key(entries, count, k, bits):
    """Find the k-th largest key by bisection: unlike a sort, the inner loop compares many keys at once."""
    low = -(1 << (bits - 1))
    high = (1 << (bits - 1)) - 1
    while low < high:
        middle = (low + high + 1) >> 1
        least = np.int64(middle) << 32
        found = 0
        for place in range(count):
            found += entries[place] >= least
        if found >= k:
            low = middle
        else:
            high = middle - 1
    return low


@njit(cache=True, nogil=True)
def _lowered(key, query, buffers):
    """Return the smallest key that a true member of the k best can have, if this is the k-th best key found."""
    if buffers.unit:
        return _reached(key * buffers.unit, query, buffers)
    whole = np.int32(key << _spare_bits(buffers))
    bits = np.empty(1, np.int32)
    bits[0] = whole ^ ((whole >> 31) & 0x7FFFFFFF)
    return _reached(bits.view(np.float32)[0], query, buffers)


@njit(cache=True, nogil=True)
def _reached(score, query, buffers):
    lowest = score - buffers.margins[query] - buffers.relative * abs(score)
    # Minus one for the rounding of this subtraction itself; never the key that marks a new query.
    return max(_key_of(lowest, buffers) - 1, np.iinfo(buffers.thresholds.dtype).min + 1)


@njit(cache=True, nogil=True)
def _key_of(score, buffers):
    """Return the key of a score, rounded down to the precision of keys."""
    if buffers.unit:
        return np.int64(np.floor(score / buffers.unit))
    nearest = np.empty(1, np.float32)
    nearest[0] = score
    bits = nearest.view(np.int32)[0]
    return np.int64(bits ^ ((bits >> 31) & 0x7FFFFFFF)) >> _spare_bits(buffers)


@njit(inline="always")
def _spare_bits(buffers):
    return 32 - 8 * buffers.thresholds.itemsize
