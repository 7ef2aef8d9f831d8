"""One side of a search: checked embeddings, the lengths that bound errors of their products, and equal vectors."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt
from numbers import Integral

import numpy as np
from numba import njit, prange
from numpy.typing import ArrayLike, NDArray

Places = NDArray[np.int64]
WHOLE = np.empty(0, np.int64)
CHUNK = 4_096


@dataclass(frozen=True)
class Side:
    """Embeddings ``values`` (N, D), float32 or float64, of which rows ``index`` (n,) take part; all where it is empty.

    Per row that takes part: ``lengths`` (Euclidean), by precision ``losses``, the lengths of the rounding errors, and
    ``hashes`` of the bits.
    """

    values: NDArray
    index: Places
    lengths: NDArray[np.float64]
    losses: dict[str, NDArray[np.float64]]
    hashes: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def dimensions(self) -> int:
        return self.values.shape[1]

    def take(self, rows: slice) -> NDArray:
        """Return the embeddings of some of the rows that take part."""
        return self.values[self.index[rows]] if len(self.index) else self.values[rows]

    def only(self, rows: Places) -> "Side":
        """Return the side with only these of its rows, in this order."""
        index = self.index[rows] if len(self.index) else rows
        losses = {precision: lengths[rows] for precision, lengths in self.losses.items()}
        return Side(self.values, index, self.lengths[rows], losses, self.hashes[rows])


def open_side(embeddings: ArrayLike, name: str) -> Side:
    """Check embeddings, which may be a memory map, and measure them in one pass; float32 and float64 in C order are not
    copied.

    Raises ValueError for another shape than (N, D), no rows, entries that are not finite real numbers, zero vectors
    (equally near to everything), and vectors too long or too short for products in float32.
    """
    values = _as_floats(embeddings if isinstance(embeddings, np.ndarray) else np.asarray(embeddings), name)
    lengths, bfloat16, float32 = np.empty((3, len(values)))
    hashes = np.empty(len(values), np.uint64)
    words = values.view(np.uint64 if values.strides[0] % 8 == 0 else np.uint32)  # longer words are hashed faster
    _measure(values, words, lengths, bfloat16, float32, hashes)
    _refuse(~np.isfinite(lengths), name, "hold NaN or infinity")
    _refuse(lengths == 0, name, "are zero vectors, which have no direction")
    _refuse((lengths > 1e18) | (lengths < 1e-18), name, "are too long or too short for float32; scale them")
    return Side(values, WHOLE, lengths, {"bfloat16": bfloat16, "float32": float32}, hashes)


def fit_together(images: Side, captions: Side) -> None:
    """Raise ValueError for sides of different dimensions."""
    if images.dimensions != captions.dimensions:
        raise ValueError(
            f"Embeddings of {images.dimensions} and of {captions.dimensions} dimensions do not fit together."
        )


def check_k(k: int, n: int) -> None:
    """Raise ValueError unless lists of k items can be made of n."""
    if isinstance(k, bool) or not isinstance(k, Integral) or not 1 <= k <= n:
        raise ValueError(f"k must be a whole number between 1 and {n}, the number of items, not {k!r}.")


def slices(n: int, step: int, *, start: int = 0) -> Iterator[slice]:
    """Cut start..n into slices of at most ``step``."""
    return (slice(first, min(first + step, n)) for first in range(start, n, step))


@dataclass(frozen=True)
class Groups:
    """Equal vectors of a side: ``firsts`` (g,) the lowest row of each group, ascending; ``group_of`` (n,) each row's
    group; ``members`` (n,) all rows, group by group and ascending in each, ``starts`` (g + 1,) where groups begin."""

    firsts: Places
    group_of: Places
    members: Places
    starts: Places


def group_equals(side: Side) -> Groups | None:
    """Group equal vectors if this at least halves the side; None otherwise."""
    n = len(side)
    sample = 16 * isqrt(len(side))
    # Of a side that is halved, 128 rows of the sample or more equal another; hardly ever less than half as many do.
    if n > sample:
        drawn = side.hashes[np.random.default_rng(0).choice(n, sample, replace=False, shuffle=False)]
        if sample - len(np.unique(drawn)) < 64:
            return None
    if len(np.unique(side.hashes)) > n // 2:
        return None
    _, firsts, group_of = np.unique(side.hashes, return_index=True, return_inverse=True)
    if not _truly_equal(side, firsts[group_of]):
        return None
    order = np.argsort(firsts)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    group_of = rank[group_of]
    sizes = np.bincount(group_of, minlength=len(firsts))
    return Groups(firsts[order], group_of, np.argsort(group_of, kind="stable"), np.append(0, np.cumsum(sizes)))


def all_different(n: int) -> Groups:
    """Every row a group of its own."""
    rows = np.arange(n)
    return Groups(rows, rows, rows, np.arange(n + 1))


def _truly_equal(side: Side, first_of: Places) -> bool:
    """Whether every row equals the first with its hash."""
    rows = np.flatnonzero(first_of != np.arange(len(side)))
    parts = (rows[part] for part in slices(len(rows), CHUNK))
    return all(np.array_equal(_vectors(side, part), _vectors(side, first_of[part])) for part in parts)


def _vectors(side: Side, rows: Places) -> NDArray:
    return side.values[side.index[rows] if len(side.index) else rows]


def _as_floats(array: NDArray, name: str) -> NDArray:
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must have shape (N, D), both above 0, not {array.shape}.")
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be real numbers, not {array.dtype}.")
    wanted = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    return np.ascontiguousarray(array, wanted)


def _refuse(bad: NDArray[np.bool_], name: str, what: str) -> None:
    if bad.any():
        raise ValueError(f"{int(bad.sum())} rows of {name} {what}; the first is row {int(bad.argmax())}.")


@njit(parallel=True, cache=True, nogil=True)
def _measure(values, words, lengths, bfloat16_losses, float32_losses, hashes):
    for row in prange(len(values)):
        lengths[row], bfloat16_losses[row], float32_losses[row] = _lengths(values[row])
        hashes[row] = _hash(words[row])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _lengths(vector):
    single = np.empty(len(vector), np.float32)
    bits = np.empty(len(vector), np.uint32)
    for place in range(len(vector)):
        single[place] = vector[place]
    bits[:] = single.view(np.uint32)
    for place in range(len(vector)):  # to the nearest bfloat16, ties to even
        bits[place] = (bits[place] + np.uint32(0x7FFF) + ((bits[place] >> np.uint32(16)) & np.uint32(1))) & np.uint32(
            0xFFFF0000
        )
    rounded = bits.view(np.float32)
    length = 0.0
    bfloat16_loss = 0.0
    float32_loss = 0.0
    for place in range(len(vector)):
        value = np.float64(vector[place])
        length += value * value
        bfloat16_loss += (value - rounded[place]) ** 2
        float32_loss += (value - single[place]) ** 2
    return np.sqrt(length), np.sqrt(bfloat16_loss), np.sqrt(float32_loss)


@njit(cache=True, nogil=True)
def _hash(words):
    mixed = np.uint64(0xCBF29CE484222325)
    for word in words:
        mixed = (mixed ^ np.uint64(word)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed
