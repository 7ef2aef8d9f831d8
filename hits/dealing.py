"""Which gold pairs go into which HIT: decks of controls, dealt without replacement. Pure arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np
from numpy.typing import NDArray

from hits.designs import Design
from hits.packing import Codes, Sharing
from journal.errors import CounterpartError

POSITIVE, NEGATIVE = "positive", "negative"
Pair = tuple[int, int]  # image, caption


@dataclass(frozen=True)
class Dealt:
    """One control's place in the plan: its HIT (from 0), its pair as codes, and its polarity."""

    hit: int
    image: int
    caption: int
    polarity: str


class Table:
    """What one HIT holds so far."""

    def __init__(self, n_images: int, n_captions: int) -> None:
        self.images = np.zeros(n_images, bool)
        self.captions = np.zeros(n_captions, bool)
        self.pairs: set[Pair] = set()

    def lay(self, images: Codes, captions: Codes) -> None:
        self.images[images] = self.captions[captions] = True
        self.pairs.update(zip(images.tolist(), captions.tolist(), strict=True))

    def clear(self) -> None:
        for image, caption in self.pairs:
            self.images[image] = self.captions[caption] = False
        self.pairs.clear()


class Deck:
    """Gold pairs in random order; a pair comes again only when all that fit have come, in a new order."""

    def __init__(self, pairs: Codes, rng: np.random.Generator) -> None:
        """``pairs`` (n, 2): rows of image code and caption code, distinct."""
        self._pairs = pairs
        self._rng = rng
        self._turn = rng.random(len(pairs))  # the whole part counts how often a pair was dealt

    def __len__(self) -> int:
        return len(self._pairs)

    def deal(self, table: Table, sharing: Sharing) -> Pair | None:
        """Return the next pair that is not on the table: with "avoid" one that shares no image and no caption
        with it, if the deck has any. None where every pair of the deck lies there already."""
        images, captions = self._pairs[:, 0], self._pairs[:, 1]
        fits = ~(table.images[images] | table.captions[captions])
        if sharing == "allow" or not fits.any():
            fits = self._not_on(table)
        if not fits.any():
            return None
        card = int(np.where(fits, self._turn, np.inf).argmin())
        self._turn[card] = np.floor(self._turn[card]) + 1 + self._rng.random()
        return int(images[card]), int(captions[card])

    def _not_on(self, table: Table) -> NDArray[np.bool_]:
        fits = np.ones(len(self), bool)
        both = table.images[self._pairs[:, 0]] & table.captions[self._pairs[:, 1]]
        for card in np.flatnonzero(both):
            fits[card] = tuple(self._pairs[card].tolist()) not in table.pairs
        return fits


def deal_controls(
    hits: Codes,
    images: Codes,
    captions: Codes,
    *,
    design: Design,
    decks: dict[str, Deck],
    shape: tuple[int, int],
    sharing: Sharing,
) -> list[Dealt]:
    """Deal every HIT its controls.

    ``hits``, ``images``, ``captions`` (n,) tell which candidate pair stands where; ``decks`` has a deck for each
    polarity of the design; ``shape`` counts the image and caption codes. A HIT short of candidates is topped up
    with further controls, positive and negative in turn, so that no candidate is asked more often than another.
    Raises CounterpartError if a HIT finds no control that it does not hold already.
    """
    table, dealt = Table(*shape), []
    for hit, members in enumerate(_members(hits)):
        table.lay(images[members], captions[members])
        for polarities in _wanted(design, missing=design.candidates - len(members)):
            control = _deal(hit, decks, polarities, table, sharing)
            table.lay(np.array([control.image]), np.array([control.caption]))
            dealt.append(control)
        table.clear()
    return dealt


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


def _members(hits: Codes) -> list[Codes]:
    """The candidates of each HIT, as places in the arrays."""
    return np.split(np.argsort(hits, kind="stable"), np.cumsum(np.bincount(hits))[:-1])


def _wanted(design: Design, missing: int) -> Iterator[Sequence[str]]:
    """The controls of one HIT, each as the polarities that will do, the better one first."""
    yield from [(POSITIVE,)] * design.positives + [(NEGATIVE,)] * design.negatives
    kinds = [kind for kind, count in ((POSITIVE, design.positives), (NEGATIVE, design.negatives)) if count]
    yield from islice(cycle((kinds, kinds[::-1])), missing)
