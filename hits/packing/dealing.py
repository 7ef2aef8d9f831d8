"""Dealing gold controls to HITs: without replacement until a deck is used up, then again in a new order."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from heapq import heapify, heappop, heappush, heapreplace
from itertools import cycle, islice

import numpy as np

from core.errors import CounterpartError
from hits.packing.designs import Design
from hits.packing.plan import NEGATIVE, POSITIVE, ROLES, Codes, Items, Sharing

Pair = tuple[int, int]  # image, caption


class Table:
    """The pairs of one HIT so far."""

    def __init__(self, images: list[int], captions: list[int]) -> None:
        # Short: searching lists is faster than making sets.
        self._images = images
        self._captions = captions

    def add(self, image: int, caption: int) -> None:
        self._images.append(image)
        self._captions.append(caption)

    def holds(self, pair: Pair) -> bool:
        return pair in zip(self._images, self._captions, strict=True)

    def shares(self, pair: Pair) -> bool:
        """Whether another pair of the HIT has the same image or the same caption."""
        return pair[0] in self._images or pair[1] in self._captions


class Deck:
    """Gold pairs in random order; a pair is repeated only after all that fit were dealt, in a new order."""

    def __init__(self, pairs: Codes, rng: np.random.Generator) -> None:
        """``pairs`` (n, 2): distinct rows of image code and caption code."""
        self._pairs: list[Pair] = list(zip(*pairs.T.tolist(), strict=True))
        self._random = _random_numbers(rng)
        # A heap of (turn, pair): the whole part of the turn counts how often the pair was dealt.
        self._next = list(zip(islice(self._random, len(pairs)), range(len(pairs)), strict=True))
        heapify(self._next)

    def __len__(self) -> int:
        return len(self._pairs)

    def deal(self, table: Table, sharing: Sharing) -> Pair | None:
        """Return the next pair that is not on the table, or None if all are.

        With ``sharing`` "avoid", pairs that share no image and no caption with the table come first.
        """
        free = self._next_unless(table.shares) if sharing == "avoid" else None
        return free or self._next_unless(table.holds)

    def _next_unless(self, is_refused: Callable[[Pair], bool]) -> Pair | None:
        """Deal the next pair that is not refused, if there is one; refused pairs keep their turn."""
        passed = []
        dealt = None
        while self._next and is_refused(self._pairs[self._next[0][1]]):
            passed.append(heappop(self._next))
        if self._next:
            turn, number = self._next[0]
            heapreplace(self._next, (int(turn) + 1 + next(self._random), number))
            dealt = self._pairs[number]
        for entry in passed:
            heappush(self._next, entry)
        return dealt


def deal_controls(candidates: Items, *, design: Design, decks: dict[str, Deck], sharing: Sharing) -> Items:
    """Return the controls of every HIT, in the order of the HITs.

    ``decks`` has a deck for each polarity of the design. A HIT with missing candidates gets further controls,
    positive and negative in turn, so that no candidate is asked more often than another. Raises CounterpartError
    if all controls are used in a HIT already.
    """
    hits: list[int] = []
    images: list[int] = []
    captions: list[int] = []
    roles: list[int] = []
    for hit, (size, table) in enumerate(_tables(candidates)):
        for polarities in _wanted(design, missing=design.candidates - size):
            polarity, (image, caption) = _deal(hit, decks, polarities, table, sharing)
            table.add(image, caption)
            hits.append(hit)
            images.append(image)
            captions.append(caption)
            roles.append(ROLES.index(polarity))
    return Items(*(np.array(column, np.int64) for column in (hits, images, captions, roles)))


def _random_numbers(rng: np.random.Generator) -> Iterator[float]:
    """Yield random numbers from [0, 1) without end; drawing many at a time is several times faster."""
    while True:
        yield from rng.random(1_024).tolist()


def draw_outside(excluded: Codes, size: int, count: int, rng: np.random.Generator) -> Codes:
    """Draw ``count`` distinct numbers uniformly from ``range(size)`` without those in ``excluded`` (sorted, distinct).

    If fewer remain, all of them are returned in random order.
    """
    remaining = size - len(excluded)
    ranks = rng.choice(remaining, min(count, remaining), replace=False) if remaining else np.empty(0, np.int64)
    remaining_below = excluded - np.arange(len(excluded))
    return ranks + np.searchsorted(remaining_below, ranks, side="right")


def _deal(
    hit: int, decks: dict[str, Deck], polarities: Sequence[str], table: Table, sharing: Sharing
) -> tuple[str, Pair]:
    for polarity in polarities:
        if pair := decks[polarity].deal(table, sharing):
            return polarity, pair
    used = " and ".join(f"all {len(decks[polarity])} {polarity}" for polarity in polarities)
    raise CounterpartError(
        f"Not enough gold controls for HIT {hit + 1}: {used} controls are already used in it. "
        "Use a larger query sample, or a design with fewer controls."
    )


def _tables(candidates: Items) -> Iterator[tuple[int, Table]]:
    """Yield the number of candidates of each HIT, and a table with them."""
    order = np.argsort(candidates.hits, kind="stable")
    images = candidates.images[order].tolist()
    captions = candidates.captions[order].tolist()
    start = 0
    for size in np.bincount(candidates.hits).tolist():
        yield size, Table(images[start : start + size], captions[start : start + size])
        start += size


@cache
def _wanted(design: Design, missing: int) -> tuple[tuple[str, ...], ...]:
    """Return the controls of one HIT, each as the polarities that it may have, the preferred one first."""
    kinds = tuple(kind for kind, count in ((POSITIVE, design.positives), (NEGATIVE, design.negatives)) if count)
    topping_up = islice(cycle((kinds, kinds[::-1])), missing)
    return ((POSITIVE,),) * design.positives + ((NEGATIVE,),) * design.negatives + tuple(topping_up)
