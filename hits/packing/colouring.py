"""Pairs into HITs so that no two pairs of a HIT share an image or a caption.

Pairs are the edges of a graph between images and captions. The pairs of a HIT that share nothing are a matching, so
packing is an edge colouring with HITs as colours. If no image and no caption has more pairs than there are HITs, a
packing exists (König 1916) even with HITs of bounded size (de Werra 1971). It is found in two steps: pairs go in
random order to the first HIT where they fit; for the few that fit nowhere, an alternating path of pairs is swapped
between two HITs. The inner loops are compiled.
"""

from math import ceil
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hits.packing.plan import Codes, Sharing

TRIES = 1_000  # HITs that first fit tries for one pair before the pair is left to the swaps

Ints = NDArray[np.int32]


def pack_pairs(images: Codes, captions: Codes, *, capacity: int, sharing: Sharing, rng: np.random.Generator) -> Codes:
    """Assign ``n`` distinct pairs to ``ceil(n / capacity)`` HITs of at most ``capacity`` pairs each.

    ``images`` (n,) and ``captions`` (n,) are non-negative codes. Returns the HIT of each pair (n,), from 0. HITs are
    in random order, those with fewer pairs last (usually only the last one). With ``sharing`` "avoid", an image (or a
    caption) of d pairs shares a HIT ``max(0, d - HITs)`` times, the minimum; with "allow", pairs are only shuffled.
    """
    hits = ceil(len(images) / capacity)
    order = rng.permutation(len(images))
    packed = np.empty(len(images), np.int64)
    if sharing == "allow":
        packed[order] = np.arange(len(images)) // capacity
        return packed
    packed[order] = colour(_graph(images[order], captions[order], hits), capacity, hits)
    return _short_ones_last(packed, rng.permutation(hits))


def _short_ones_last(packed: Codes, shuffled: Codes) -> Codes:
    """Renumber the HITs: in the order of ``shuffled``, and full ones before short ones."""
    sizes = np.bincount(packed, minlength=len(shuffled))
    number = np.empty_like(shuffled)
    number[np.lexsort((shuffled, -sizes))] = np.arange(len(shuffled))
    return number[packed]


def _graph(images: Codes, captions: Codes, hits: int) -> NDArray[np.int32]:
    """Return the graph's edges (n, 2): the nodes of images first, those of captions after."""
    left = _nodes(images, hits)
    right = _nodes(captions, hits)
    return np.stack([left, right + left.max() + 1], axis=1).astype(np.int32)


def _nodes(codes: Codes, hits: int) -> Codes:
    """Number the nodes of one side. An image or caption of more than ``hits`` pairs becomes several nodes of at most
    ``hits`` pairs, all but one of them full: no packing has fewer repetitions."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    run = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(codes)))
    begins = (np.arange(len(codes)) - starts[run]) % hits == 0
    nodes = np.empty_like(codes)
    nodes[order] = np.cumsum(begins) - 1
    return nodes


class Packing(NamedTuple):
    """The two nodes of every pair, ``ends`` (n, 2), and the pairs of every HIT: the first ``sizes[hit]`` of
    ``members[hit]``, which has one place more than the capacity. HITs hold few pairs, so they are searched one by
    one, and memory grows only with the number of pairs."""

    ends: Ints
    members: Ints
    sizes: Ints


def colour(ends: Ints, capacity: int, hits: int) -> Ints:
    """Return the HIT (n,) of every pair, so that no HIT has more than ``capacity`` pairs or two at one node.

    ``ends`` (n, 2): nodes of both sides, numbered without overlap. No node may have more than ``hits`` pairs, and n
    may be at most ``hits * capacity``; then such a packing exists. If first fit places every pair, only the last HIT
    has fewer pairs. The order of the pairs decides among the packings.
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
    """Put each pair into the next HIT that is not full and where it fits; return the pairs that are left."""
    turn = np.arange(len(room))
    n_open = len(turn)
    at = 0
    left = [0 for _ in range(0)]
    for pair in range(len(packing.ends)):
        tries = 0
        most = min(n_open, TRIES)
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
    """Place a pair that fits in no HIT with room."""
    image, caption = packing.ends[pair]
    hit = _without(packing, pair, image, caption)
    if hit >= 0:
        _put(packing, pair, hit)
    else:  # two HITs are without one of its nodes each; after a swap between them, the first is without both (König)
        hit = _without(packing, pair, image, image)
        other = _without(packing, pair, caption, caption)
        _swap(packing, _path(packing, caption, hit, other), hit, other)
        _put(packing, pair, hit)
        _relieve(packing, other)
    _relieve(packing, hit)


@njit(cache=True)
def _without(packing: Packing, start: int, image: int, caption: int) -> int:
    """Return a HIT that has no pair at either node, -1 if there is none. The search begins at ``start``."""
    hits = len(packing.sizes)
    for step in range(hits):
        hit = (start + step) % hits
        if _pair_at(packing, image, hit) < 0 and _pair_at(packing, caption, hit) < 0:
            return hit
    return -1


@njit(cache=True)
def _relieve(packing: Packing, full: int) -> None:
    """If ``full`` has a pair too many, swap a path that moves one pair to a HIT with room. Such a path exists:
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
    """Follow the pairs of ``hit`` and ``other`` in turn, from ``node`` to the end of the path."""
    path = np.empty(packing.sizes[hit] + packing.sizes[other], np.int32)
    length = 0
    pair = _pair_at(packing, node, hit)
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
    """Exchange the HITs of an alternating path whose first pair is in ``first``."""
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
    """Return the pair at ``node`` in ``hit``, -1 if there is none."""
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
    """Remove a pair from ``hit``; the last pair takes its place."""
    packing.sizes[hit] -= 1
    for place in range(packing.sizes[hit]):
        if packing.members[hit, place] == pair:
            packing.members[hit, place] = packing.members[hit, packing.sizes[hit]]
            return
