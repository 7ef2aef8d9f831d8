"""Which pairs go into one HIT, so that no two of them share an image or a caption. Pure arrays in and out.

Pairs are the edges of a graph between images and captions; a HIT whose pairs share nothing is a matching, and
packing is an edge colouring with HITs as colours. Where no image and no caption stands in more pairs than there
are HITs, such a packing exists (König 1916) even with the HITs' sizes bounded (de Werra 1971), and it is found:
pairs are placed first-fit in random order, and the few that find no place make one by swapping an alternating
path of pairs between two HITs.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Sharing = Literal["avoid", "allow"]


def pack_pairs(images: Codes, captions: Codes, *, capacity: int, sharing: Sharing, rng: np.random.Generator) -> Codes:
    """Assign ``n`` distinct pairs to ``ceil(n / capacity)`` HITs of at most ``capacity`` pairs each.

    ``images`` (n,) and ``captions`` (n,) are any non-negative codes; returned is each pair's HIT (n,), from 0.
    HITs come in random order, those short of pairs last: as a rule the last one alone. With ``sharing`` "avoid",
    an image (or a caption) of d pairs shares a HIT ``max(0, d - HITs)`` times, which is the fewest there can be;
    with "allow", pairs fall as the shuffle has them.
    """
    hits = -(-len(images) // capacity)
    order = rng.permutation(len(images))
    packed = np.empty(len(images), np.int64)
    if sharing == "allow":
        packed[order] = np.arange(len(images)) // capacity
        return packed
    packed[order] = _Packing(images[order], captions[order], hits, capacity).place_all()
    return _short_ones_last(packed, rng.permutation(hits))


def count_shared(hits: Codes, things: Codes) -> int:
    """Count the items whose image (or caption) already stands in the same HIT: 0 where nothing is shared."""
    if not len(hits):
        return 0
    return len(hits) - len(np.unique(hits * (things.max() + 1) + things))


def _short_ones_last(packed: Codes, shuffled: Codes) -> Codes:
    """Renumber the HITs: in the order of ``shuffled``, and full ones before short ones."""
    sizes = np.bincount(packed, minlength=len(shuffled))
    number = np.empty_like(shuffled)
    number[np.lexsort((shuffled, -sizes))] = np.arange(len(shuffled))
    return number[packed]


def _ends(codes: Codes, hits: int) -> tuple[list[int], int]:
    """Number the graph's nodes on one side. A thing of more than ``hits`` pairs becomes several nodes of at most
    ``hits`` pairs, all but one of them full: no packing can do with fewer repetitions."""
    order = np.argsort(codes, kind="stable")
    _, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
    occurrence = np.empty_like(codes)
    occurrence[order] = np.arange(len(codes)) - np.repeat(starts, counts)
    nodes, node_of = np.unique(np.stack([codes, occurrence // hits]), axis=1, return_inverse=True)
    return node_of.ravel().tolist(), nodes.shape[1]


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1


class _Packing:
    """The graph and the present place of every pair. Sets of HITs are the bits of an integer."""

    def __init__(self, images: Codes, captions: Codes, hits: int, capacity: int) -> None:
        left, n_left = _ends(images, hits)
        right, n_right = _ends(captions, hits)
        self._ends = [(image, n_left + caption) for image, caption in zip(left, right, strict=True)]
        self._at: list[dict[int, int]] = [{} for _ in range(n_left + n_right)]  # node -> HIT -> pair
        self._taken = [0] * (n_left + n_right)
        self._pairs: list[set[int]] = [set() for _ in range(hits)]
        self._capacity = capacity
        self._bit = [1 << hit for hit in range(hits)]
        self._all = self._open = (1 << hits) - 1

    def place_all(self) -> list[int]:
        for pair, (image, caption) in enumerate(self._ends):
            taken = self._taken[image] | self._taken[caption]
            if free := self._open & ~taken:
                self._put(pair, _lowest(free))
            else:
                self._make_place(pair, self._all & ~taken)
        hit_of = {pair: hit for hit, pairs in enumerate(self._pairs) for pair in pairs}
        return [hit_of[pair] for pair in range(len(self._ends))]

    def _make_place(self, pair: int, free: int) -> None:
        """Place a pair for which no HIT has both room and nothing to share; ``free`` HITs lack room only."""
        image, caption = self._ends[pair]
        touched = [_lowest(free or self._all & ~self._taken[image])]
        if not free:
            touched.append(_lowest(self._all & ~self._taken[caption]))
            self._swap(self._path(caption, *touched), *touched)
        self._put(pair, touched[0])
        for hit in touched:
            while len(self._pairs[hit]) > self._capacity:
                self._relieve(hit)

    def _relieve(self, full: int) -> None:
        """Hand one pair more from ``full`` to a HIT with room than comes back. Such a path exists: ``full`` holds
        more pairs than the other, and every path and cycle between the two alternates."""
        roomy = _lowest(self._open)
        paths = (self._path(node, full, roomy) for node in self._only_in(full, roomy))
        self._swap(next(path for path in paths if len(path) % 2), full, roomy)

    def _only_in(self, hit: int, other: int) -> Iterator[int]:
        """The nodes at which an alternating path between two HITs begins with a pair of ``hit``."""
        for pair in sorted(self._pairs[hit]):
            for node in self._ends[pair]:
                if other not in self._at[node]:
                    yield node

    def _path(self, node: int, hit: int, other: int) -> list[int]:
        """Follow the pairs of ``hit`` and ``other`` in turn from ``node`` until there is none."""
        path: list[int] = []
        while (pair := self._at[node].get(hit)) is not None:
            path.append(pair)
            image, caption = self._ends[pair]
            node = caption if node == image else image
            hit, other = other, hit
        return path

    def _swap(self, path: list[int], first: int, second: int) -> None:
        """Exchange the HITs of an alternating path whose first pair stands in ``first``."""
        for place, pair in enumerate(path):
            self._take(pair, second if place % 2 else first)
        for place, pair in enumerate(path):
            self._put(pair, first if place % 2 else second)

    def _put(self, pair: int, hit: int) -> None:
        for node in self._ends[pair]:
            self._at[node][hit] = pair
            self._taken[node] |= self._bit[hit]
        self._pairs[hit].add(pair)
        if len(self._pairs[hit]) >= self._capacity:
            self._open &= ~self._bit[hit]

    def _take(self, pair: int, hit: int) -> None:
        for node in self._ends[pair]:
            del self._at[node][hit]
            self._taken[node] ^= self._bit[hit]
        self._pairs[hit].remove(pair)
        if len(self._pairs[hit]) < self._capacity:
            self._open |= self._bit[hit]
