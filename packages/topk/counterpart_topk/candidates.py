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
ROWS = 16  # that a thread scans at a time, with one buffer of flags
STRIPE = 512  # columns a thread scans at a time: their thresholds stay in its nearest cache; a multiple of 8

Keys = NDArray[np.int16] | NDArray[np.int32]


class Buffers(NamedTuple):
    """The candidates of n queries in one direction, at most B each, and the threshold for entering.

    ``thresholds`` (n,): the smallest key that may enter. ``entries`` (n, B), the first ``counts`` of a row in use: a
    candidate's key in the upper half, the complement of its place in the lower, so that entries are ordered by falling
    score, then by rising place. Keys are the bits of scores where ``unit`` is 0; otherwise they count units. A true
    member of the k best may score lower than the k-th best found, by at most ``margins + relative * |score|``. With
    ``strict`` scores are final and margins zero: of equal scores the first k stay, which are the right ones, since
    places come in ascending order.
    """

    thresholds: Keys
    counts: NDArray[np.int32]
    entries: NDArray[np.int64]
    margins: NDArray[np.float64]
    overflowed: NDArray[np.bool_]
    relative: float
    unit: float
    strict: bool
    k: int


def open_buffers(
    margins: NDArray[np.float64],
    entries: NDArray[np.int64],
    k: int,
    key_type: type,
    *,
    relative: float,
    unit: float,
    strict: bool,
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
        strict=strict,
        k=k,
    )


def buffer_size(k: int) -> int:
    """Return the number of candidates kept a query; about 2 k of them are within the margin."""
    return max(SMALLEST_BUFFER, 4 * k)


@njit(cache=True, nogil=True)
def _make_keys(bits):
    """Turn the bits of scores into keys, in place: those of negative scores are flipped, except the sign."""
    kind = bits.dtype.type
    shift = kind(8 * bits.itemsize - 1)
    mask = kind(np.iinfo(bits.dtype).max)
    for c in range(len(bits)):
        bits[c] = kind(bits[c] ^ kind(kind(bits[c] >> shift) & mask))


@njit(parallel=True, cache=True, nogil=True)
def scan_rows(tile, at, first_column, rows):
    """Turn a tile of score bits (R, C) into keys, and collect the candidates of queries ``at`` to ``at + R``.

    Columns are the places from ``first_column`` on.
    """
    for strip in prange((tile.shape[0] + ROWS - 1) // ROWS):
        part = tile[strip * ROWS : min(strip * ROWS + ROWS, tile.shape[0])]
        for r in range(len(part)):
            _make_keys(part[r])
        scan_block_rows(part, tile.shape[1], at + strip * ROWS, first_column, rows)


@njit(parallel=True, cache=True, nogil=True)
def scan_columns(tile, at, first_row, columns):
    """Collect from a tile of keys (R, C) the candidates of queries ``at`` to ``at + C``.

    Rows are the places from ``first_row`` on.
    """
    for stripe in prange((tile.shape[1] + STRIPE - 1) // STRIPE):
        first = stripe * STRIPE
        scan_block_columns(tile, first, min(first + STRIPE, tile.shape[1]), at + first, first_row, columns)


@njit(cache=True, nogil=True)
def scan_block_rows(keys, width, at, first_column, rows):
    """As ``scan_rows`` of keys, in one thread, and only of the first columns."""
    flags = np.zeros(STRIPE, np.bool_)
    hits = np.empty(STRIPE + 1, np.int64)
    for r in range(len(keys)):
        if rows.thresholds[at + r] == np.iinfo(keys.dtype).min:
            _start_row(keys[r, :width], at + r, rows)
        _scan_row(keys[r, :width], at + r, first_column, rows, flags, hits)


@njit(cache=True, nogil=True)
def scan_block_columns(keys, first, stop, at, first_row, columns):
    """As ``scan_columns``, in one thread, and of at most STRIPE columns, which are queries from ``at`` on."""
    if columns.thresholds[at] == np.iinfo(keys.dtype).min:
        _start_stripe(keys[:, first:stop], at, columns)
    thresholds = columns.thresholds[at : at + stop - first]
    counts = columns.counts[at : at + stop - first]
    entries = columns.entries[at : at + stop - first]
    size = columns.entries.shape[1]
    flags = np.zeros(STRIPE, np.bool_)
    hits = np.empty(STRIPE + 1, np.int64)
    for r in range(len(keys)):
        row = keys[r, first:stop]
        for c in range(len(row)):
            flags[c] = row[c] >= thresholds[c]
        for number in range(_set_flags(flags, len(row), hits)):
            c = hits[number]
            if counts[c] == size:
                _make_room(at + c, columns)
            entries[c, counts[c]] = _entry(row[c], first_row + r)
            counts[c] += 1


@njit(cache=True, nogil=True)
def seed(buffers, kth_scores):
    """Set thresholds from the k-th best final scores (n,) of earlier strips; -inf where there is none."""
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
    """Raise a query's threshold as far as its candidates allow, drop those below it, and return how many are left."""
    count = buffers.counts[query]
    entries = buffers.entries[query]
    if count <= buffers.k:
        return count
    if buffers.strict:
        least = np.sort(entries[:count])[count - buffers.k]  # np.partition takes 7 s to compile
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
def _scan_row(keys, query, first_column, rows, flags, hits):
    entries = rows.entries[query]
    count = rows.counts[query]
    threshold = rows.thresholds[query]
    for first in range(0, len(keys), STRIPE):
        part = keys[first : first + STRIPE]
        for c in range(len(part)):
            flags[c] = part[c] >= threshold
        for number in range(_set_flags(flags, len(part), hits)):
            c = hits[number]
            if count == len(entries):
                rows.counts[query] = count
                count, threshold = _make_room(query, rows)
            entries[count] = _entry(part[c], first_column + first + c)
            count += 1
    rows.counts[query] = count


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


@njit(cache=True, nogil=True)
def _make_room(query, buffers):
    """Thin a full buffer; mark the query as overflowed if nearly all stay. Returns count and threshold."""
    if thin(query, buffers) > buffers.entries.shape[1] - SLACK:
        buffers.overflowed[query] = True
        buffers.counts[query] = 0
        buffers.thresholds[query] = np.iinfo(buffers.thresholds.dtype).max
    return buffers.counts[query], buffers.thresholds[query]


@njit(cache=True, nogil=True)
def _start_row(keys, query, rows):
    """Set a new query's first threshold: k of the keys reach the k-th best of the maxima of the lanes."""
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
        keys = tile[r]
        lane = best[r % lanes]
        for c in range(tile.shape[1]):
            lane[c] = max(lane[c], keys[c])
    by_column = best.T.copy()
    for c in range(tile.shape[1]):
        if columns.thresholds[at + c] == np.iinfo(tile.dtype).min:
            kth = _kth_best(by_column[c], columns.k)
            columns.thresholds[at + c] = _lowered(kth, at + c, columns)


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


@njit(inline="always")
def _entry(key, place):
    return (np.int64(key) << 32) | (np.int64(place) ^ 0xFFFFFFFF)


@njit(cache=True, nogil=True)
def _lowered(key, query, buffers):
    """Return the smallest key that a true member of the k best can have, if this is the k-th best key found."""
    if buffers.strict:
        return key
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
