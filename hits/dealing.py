"""Which gold pairs go into which HIT: decks of controls, dealt without replacement. Pure arrays."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from heapq import heapify, heappop, heappush, heapreplace
from itertools import cycle, islice
from typing import NamedTuple

import numpy as np

from core.errors import CounterpartError
from hits.designs import Design
from hits.packing import Codes, Sharing

POSITIVE, NEGATIVE = "positive", "negative"
Pair = tuple[int, int]  # image, caption


class Dealt(NamedTuple):
    """One control's place in the plan: its HIT (from 0), its pair as codes, and its polarity."""

    hit: int
    image: int
    caption: int
    polarity: str


class Table:
    """What one HIT holds so far."""

    def __init__(self, images: Sequence[int], captions: Sequence[int]) -> None:
        self._images, self._captions = list(images), list(captions)  # short: looking through them beats making sets

    def lay(self, image: int, caption: int) -> None:
        self._images.append(image)
        self._captions.append(caption)

    def holds(self, pair: Pair) -> bool:
        return pair in zip(self._images, self._captions, strict=True)

    def shares(self, pair: Pair) -> bool:
        """Whether the pair's image or caption lies here already."""
        return pair[0] in self._images or pair[1] in self._captions


class Deck:
    """Gold pairs in random order; a pair comes again only when all that fit have come, in a new order."""

    def __init__(self, pairs: Codes, rng: np.random.Generator) -> None:
        """``pairs`` (n, 2): rows of image code and caption code, distinct."""
        self._pairs: list[Pair] = list(zip(*pairs.T.tolist(), strict=True))
        self._random = _stream(rng)
        # A heap of (turn, card): the whole part of the turn counts how often the card was dealt.
        self._next = list(zip(islice(self._random, len(pairs)), range(len(pairs)), strict=True))
        heapify(self._next)

    def __len__(self) -> int:
        return len(self._pairs)

    def deal(self, table: Table, sharing: Sharing) -> Pair | None:
        """Return the next pair that is not on the table: with "avoid" one that shares no image and no caption
        with it, if the deck has any. None where every pair of the deck lies there already."""
        free = self._next_unless(table.shares) if sharing == "avoid" else None
        return free or self._next_unless(table.holds)

    def _next_unless(self, refused: Callable[[Pair], bool]) -> Pair | None:
        """Deal the next pair that is not refused, if there is one; those before it keep their turn."""
        passed, dealt = [], None
        while self._next and refused(self._pairs[self._next[0][1]]):
            passed.append(heappop(self._next))
        if self._next:
            turn, card = self._next[0]
            heapreplace(self._next, (int(turn) + 1 + next(self._random), card))
            dealt = self._pairs[card]
        for entry in passed:
            heappush(self._next, entry)
        return dealt


def deal_controls(
    hits: Codes, images: Codes, captions: Codes, *, design: Design, decks: dict[str, Deck], sharing: Sharing
) -> list[Dealt]:
    """Deal every HIT its controls.

    ``hits``, ``images``, ``captions`` (n,) tell which candidate pair stands where; ``decks`` has a deck for each
    polarity of the design. A HIT short of candidates is topped up with further controls, positive and negative in
    turn, so that no candidate is asked more often than another. Raises CounterpartError if a HIT finds no control
    that it does not hold already.
    """
    dealt = []
    for hit, (size, table) in enumerate(_tables(hits, images, captions)):
        for polarities in _wanted(design, missing=design.candidates - size):
            control = _deal(hit, decks, polarities, table, sharing)
            table.lay(control.image, control.caption)
            dealt.append(control)
    return dealt


def _stream(rng: np.random.Generator) -> Iterator[float]:
    """Random numbers from [0, 1) without end, drawn many at a time: a single one takes several times as long."""
    while True:
        yield from rng.random(1_024).tolist()


def draw_outside(excluded: Codes, size: int, count: int, rng: np.random.Generator) -> Codes:
    """Draw ``count`` distinct numbers uniformly from ``range(size)`` without those in ``excluded`` (sorted, distinct);
    all that remain, in random order, if they are fewer."""
    remaining = size - len(excluded)
    ranks = rng.choice(remaining, min(count, remaining), replace=False) if remaining else np.empty(0, np.int64)
    remaining_below = excluded - np.arange(len(excluded))
    return ranks + np.searchsorted(remaining_below, ranks, side="right")


def _deal(hit: int, decks: dict[str, Deck], polarities: Sequence[str], table: Table, sharing: Sharing) -> Dealt:
    for polarity in polarities:
        if pair := decks[polarity].deal(table, sharing):
            return Dealt(hit, *pair, polarity)
    known = " and ".join(f"all {len(decks[polarity])} {polarity}" for polarity in polarities)
    raise CounterpartError(
        f"HIT {hit + 1} finds no further control: {known} controls stand in it already. "
        "Take a larger sample of queries, or a design with fewer controls."
    )


def _tables(hits: Codes, images: Codes, captions: Codes) -> Iterator[tuple[int, Table]]:
    """How many candidates each HIT in turn has, and a table on which they lie."""
    order = np.argsort(hits, kind="stable")
    in_order, start = (images[order].tolist(), captions[order].tolist()), 0
    for size in np.bincount(hits).tolist():
        yield size, Table(*(codes[start : start + size] for codes in in_order))
        start += size


@cache
def _wanted(design: Design, missing: int) -> tuple[tuple[str, ...], ...]:
    """The controls of one HIT, each as the polarities that will do, the better one first."""
    kinds = tuple(kind for kind, count in ((POSITIVE, design.positives), (NEGATIVE, design.negatives)) if count)
    topping_up = islice(cycle((kinds, kinds[::-1])), missing)
    return ((POSITIVE,),) * design.positives + ((NEGATIVE,),) * design.negatives + tuple(topping_up)
