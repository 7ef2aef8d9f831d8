"""Which pairs go into one HIT, so that no two of them share an image or a caption. Pure arrays in and out.

Pairs are the edges of a graph between images and captions; a HIT whose pairs share nothing is a matching, and
packing is an edge colouring with HITs as colours. Where no image and no caption stands in more pairs than there
are HITs, such a packing exists (König 1916) even with the HITs' sizes bounded (de Werra 1971), and it is found
(``hits.colouring``): pairs are dealt round in random order, each to the first HIT that it fits, and the few
that find no place make one by swapping an alternating path of pairs between two HITs.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hits.colouring import colour

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
    packed[order] = colour(_graph(images[order], captions[order], hits), capacity, hits)
    return _short_ones_last(packed, rng.permutation(hits))


def count_shared(hits: Codes, things: Codes) -> int:
    """Count the items whose image (or caption) already stands in the same HIT: 0 where nothing is shared."""
    if not len(hits):
        return 0
    return len(hits) - len(distinct(hits * (things.max() + 1) + things))


def distinct(numbers: Codes) -> Codes:
    """Return the different numbers, ascending. By sorting: NumPy's ``unique`` hashes, far slower."""
    ascending = np.sort(numbers)
    is_new = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_new[1:])
    return ascending[is_new]


def _short_ones_last(packed: Codes, shuffled: Codes) -> Codes:
    """Renumber the HITs: in the order of ``shuffled``, and full ones before short ones."""
    sizes = np.bincount(packed, minlength=len(shuffled))
    number = np.empty_like(shuffled)
    number[np.lexsort((shuffled, -sizes))] = np.arange(len(shuffled))
    return number[packed]


def _graph(images: Codes, captions: Codes, hits: int) -> NDArray[np.int32]:
    """Return the graph's edges (n, 2): the nodes of images first, those of captions after."""
    left, right = _nodes(images, hits), _nodes(captions, hits)
    return np.stack([left, right + left.max() + 1], axis=1).astype(np.int32)


def _nodes(codes: Codes, hits: int) -> Codes:
    """Number the nodes of one side. A thing of more than ``hits`` pairs becomes several nodes of at most ``hits``
    pairs, all but one of them full: no packing can do with fewer repetitions."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    thing = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(codes)))
    begins = (np.arange(len(codes)) - starts[thing]) % hits == 0
    nodes = np.empty_like(codes)
    nodes[order] = np.cumsum(begins) - 1
    return nodes
