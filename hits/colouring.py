"""Compiled: pairs into HITs so that nothing is shared, by first fit, then by swapping alternating paths."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

TRIES = 1_000  # HITs at which first fit looks for one pair; whichever found none is in a knot that needs swaps

Ints = NDArray[np.int32]


class Packing(NamedTuple):
    """The pairs' two nodes ``ends`` (n, 2), and what stands in every HIT: the first ``sizes[hit]`` of
    ``members[hit]``, which has one place more than the HIT may keep. HITs hold few pairs, so what a node has in a
    HIT is looked up by going through them, and memory grows with the pairs alone."""

    ends: Ints
    members: Ints
    sizes: Ints


def colour(ends: Ints, capacity: int, hits: int) -> Ints:
    """Return the HIT (n,) of every pair, so that no HIT has more than ``capacity`` pairs or two at one node.

    ``ends`` (n, 2) numbers the nodes of both sides through. No node may have more than ``hits`` pairs, and
    ``hits * capacity`` must do for all; then such a packing exists. The last HIT alone is short where first fit finds
    a place for every pair. The order of the pairs decides among the packings.
    """
    packing = Packing(ends, np.empty((hits, capacity + 1), np.int32), np.zeros(hits, np.int32))
    room = np.full(hits, capacity, np.int32)
    room[-1] = len(ends) - (hits - 1) * capacity
    for pair in _first_fit(packing, room).tolist():
        _make_place(packing, pair)
    held = np.arange(capacity + 1) < packing.sizes[:, None]
    packed = np.empty(len(ends), np.int32)
    packed[packing.members[held]] = np.repeat(np.arange(hits), packing.sizes)
    return packed


@njit(cache=True)
def _first_fit(packing: Packing, room: Ints) -> NDArray[np.int64]:
    """Deal the pairs round to the HITs that are not full; return those for which none was found."""
    turn = np.arange(len(room))
    n_open, at = len(turn), 0
    left = [0 for _ in range(0)]
    for pair in range(len(packing.ends)):
        tries, most = 0, min(n_open, TRIES)
        while tries < most and not _fits(packing, pair, turn[(at + tries) % n_open]):
            tries += 1
        if tries == most:
            left.append(pair)
            continue
        place = (at + tries) % n_open
        hit = turn[place]
        _put(packing, pair, hit)
        if packing.sizes[hit] == room[hit]:
            n_open -= 1
            turn[place] = turn[n_open]
        elif tries == 0:
            at += 1
        at %= max(n_open, 1)
    return np.array(left, np.int64)


@njit(cache=True)
def _make_place(packing: Packing, pair: int) -> None:
    """Place a pair for which no HIT has both room and nothing to share."""
    image, caption = packing.ends[pair]
    hit = _without(packing, pair, image, caption)
    if hit >= 0:
        _put(packing, pair, hit)
    else:  # two HITs lack one of its ends each; after a swap between them, the first lacks both (König)
        hit = _without(packing, pair, image, image)
        other = _without(packing, pair, caption, caption)
        _swap(packing, _path(packing, caption, hit, other), hit, other)
        _put(packing, pair, hit)
        _relieve(packing, other)
    _relieve(packing, hit)


@njit(cache=True)
def _without(packing: Packing, start: int, image: int, caption: int) -> int:
    """Return a HIT that has no pair at either node, -1 if there is none. ``start`` says where to look first."""
    hits = len(packing.sizes)
    for step in range(hits):
        hit = (start + step) % hits
        if _pair_at(packing, image, hit) < 0 and _pair_at(packing, caption, hit) < 0:
            return hit
    return -1


@njit(cache=True)
def _relieve(packing: Packing, full: int) -> None:
    """If ``full`` has a pair too many, hand one pair more to a HIT with room than comes back. Such a path exists:
    ``full`` holds more pairs than the other, and every path and cycle between the two alternates (de Werra)."""
    capacity = packing.members.shape[1] - 1
    if packing.sizes[full] <= capacity:
        return
    roomy = 0
    while packing.sizes[roomy] >= capacity:
        roomy += 1
    for place in range(packing.sizes[full]):
        for node in packing.ends[packing.members[full, place]]:
            if _pair_at(packing, node, roomy) < 0:
                path = _path(packing, node, full, roomy)
                if len(path) % 2:
                    _swap(packing, path, full, roomy)
                    return


@njit(cache=True)
def _path(packing: Packing, node: int, hit: int, other: int) -> Ints:
    """Follow the pairs of ``hit`` and ``other`` in turn from ``node`` until there is none."""
    path = np.empty(packing.sizes[hit] + packing.sizes[other], np.int32)
    length, pair = 0, _pair_at(packing, node, hit)
    while pair >= 0:
        path[length] = pair
        length += 1
        image, caption = packing.ends[pair]
        node = caption if node == image else image
        hit, other = other, hit
        pair = _pair_at(packing, node, hit)
    return path[:length]


@njit(cache=True)
def _swap(packing: Packing, path: Ints, first: int, second: int) -> None:
    """Exchange the HITs of an alternating path whose first pair stands in ``first``."""
    for place in range(len(path)):
        _take(packing, path[place], second if place % 2 else first)
    for place in range(len(path)):
        _put(packing, path[place], first if place % 2 else second)


@njit(cache=True)
def _fits(packing: Packing, pair: int, hit: int) -> bool:
    ends = packing.ends
    for place in range(packing.sizes[hit]):
        other = packing.members[hit, place]
        if ends[other, 0] == ends[pair, 0] or ends[other, 1] == ends[pair, 1]:
            return False
    return True


@njit(cache=True)
def _pair_at(packing: Packing, node: int, hit: int) -> int:
    """Return the pair that ``node`` has in ``hit``, -1 if it has none."""
    for place in range(packing.sizes[hit]):
        pair = packing.members[hit, place]
        if packing.ends[pair, 0] == node or packing.ends[pair, 1] == node:
            return pair
    return -1


@njit(cache=True)
def _put(packing: Packing, pair: int, hit: int) -> None:
    packing.members[hit, packing.sizes[hit]] = pair
    packing.sizes[hit] += 1


@njit(cache=True)
def _take(packing: Packing, pair: int, hit: int) -> None:
    """Remove a pair that stands in ``hit``; the last one takes its place."""
    packing.sizes[hit] -= 1
    for place in range(packing.sizes[hit]):
        if packing.members[hit, place] == pair:
            packing.members[hit, place] = packing.members[hit, packing.sizes[hit]]
            return
