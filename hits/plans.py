"""A round's plan before it is written: which pair stands in which HIT, at which place, in which role."""

import gc
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress
from hits.controls import negative_pairs, original_pairs
from hits.dealing import NEGATIVE, POSITIVE, Dealt, Deck, deal_controls
from hits.designs import Design
from hits.numbering import Ground, number_collection
from hits.packing import Codes, Sharing, count_shared, pack_pairs
from mitl.models import Pool

ROLES = ("candidate", POSITIVE, NEGATIVE)  # an item's role is its place here: 0 is no control
FORM = "counterpart-plan-2"  # of what is hashed: a JSON text of all but the items, then five numbers an item,
# its pair as places (from 1) among the keys in the text


@dataclass(frozen=True)
class Plan:
    """The items of all HITs by HIT and place: codes of images and captions in ``ground``, roles as places in ROLES."""

    ground: Ground
    design: Design
    seed: int
    hits: Codes
    places: Codes
    images: Codes
    captions: Codes
    roles: Codes

    @property
    def n_hits(self) -> int:
        return int(self.hits[-1]) + 1

    def counts(self) -> dict[str, int]:
        """What the plan holds, and how many of its items repeat an image or a caption of their HIT."""
        candidates, positives, negatives = np.bincount(self.roles, minlength=len(ROLES)).tolist()
        return {
            "pairs": candidates,
            "hits": self.n_hits,
            "items": len(self.hits),
            "positives": positives,
            "negatives": negatives,
            "topped_up": self.n_hits * self.design.candidates - candidates,
            "shared_images": count_shared(self.hits, self.images),
            "shared_captions": count_shared(self.hits, self.captions),
        }

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hex) over the plan in external keys: the same in every database that holds the same input."""
        keys, items = {}, [self.hits, self.places, self.roles]
        for side, codes in (("images", self.images), ("captions", self.captions)):
            used = np.bincount(codes).astype(bool)
            keys[side] = [getattr(self.ground, side).keys[code] for code in np.flatnonzero(used).tolist()]
            items.append(np.cumsum(used, dtype=np.int64)[codes])
        form = {"form": FORM, "design": self.design.as_json(), "seed": self.seed, "roles": ROLES, **keys}
        text = json.dumps(form, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode() + np.stack(items, axis=1).astype("<i4").tobytes()).hexdigest()


@contextmanager
def uncollected() -> Iterator[None]:
    """Leave cycles of objects uncollected for a while: nothing here makes any, and looking for them among hundreds of
    thousands of pairs takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@uncollected()
def make_plan(pool: Pool, *, design: Design, seed: int, sharing: Sharing, progress: Progress) -> Plan:
    """Pack a pool's distinct pairs into HITs of ``design`` and deal the gold controls.

    Raises CounterpartError if the pool does not fill one HIT or has no controls to give.
    """
    streams = np.random.default_rng(seed).spawn(5)
    progress("reading the pool", 0, None)
    ground = number_collection(pool.collection)
    proposed = pool.proposals.values_list("image_id", "caption_id").distinct()
    candidates = ground.pair_codes(proposed.iterator(chunk_size=20_000))
    _check_size(pool, design, len(candidates))
    progress("filling HITs", 0, None)
    images, captions = candidates.T
    hits = pack_pairs(images, captions, capacity=design.candidates, sharing=sharing, rng=streams[0])
    progress("dealing controls", 0, None)
    decks = _decks(pool, ground, candidates, design, streams[1:4])
    dealt = deal_controls(hits, images, captions, design=design, decks=decks, sharing=sharing)
    return _shuffle_places(ground, design, seed, (hits, images, captions), dealt, streams[4])


def _check_size(pool: Pool, design: Design, pairs: int) -> None:
    if pairs < design.candidates:
        raise CounterpartError(
            f"The pool {pool.name} holds {pairs} pairs, fewer than the {design.candidates} of one {design.name} HIT. "
            "Pool more queries or a greater --top-k, or take a smaller design."
        )


def _decks(
    pool: Pool, ground: Ground, candidates: NDArray[np.int64], design: Design, streams: list[np.random.Generator]
) -> dict[str, Deck]:
    originals = original_pairs(pool.sample, ground)
    if design.positives and not len(originals):
        raise CounterpartError(f"The queries {pool.sample.name} have no original pair to serve as a positive control.")
    decks = {POSITIVE: Deck(originals, streams[0])}
    if design.negatives:
        hits = -(-len(candidates) // design.candidates)
        count = 2 * (hits * design.negatives + design.candidates) + 100  # some will not fit where they come
        besides = np.concatenate([originals, candidates])
        negatives = negative_pairs(pool, ground, besides=besides, count=count, rng=streams[1])
        decks[NEGATIVE] = Deck(negatives, streams[2])
    return decks


def _shuffle_places(
    ground: Ground,
    design: Design,
    seed: int,
    candidates: tuple[Codes, Codes, Codes],
    dealt: list[Dealt],
    rng: np.random.Generator,
) -> Plan:
    """Join candidates and controls, and give the items of each HIT their places in random order."""
    *controls, polarities = zip(*dealt, strict=True)
    controls.append(tuple(map(ROLES.index, polarities)))
    roles = np.zeros(len(candidates[0]), np.int64)
    items = [np.concatenate(parts) for parts in zip((*candidates, roles), controls, strict=True)]
    order = np.argsort(items[0] << 32 | rng.integers(1 << 32, size=len(items[0])), kind="stable")
    hits, images, captions, roles = (column[order] for column in items)
    places = np.arange(len(order)) % design.size + 1  # every HIT is full
    return Plan(ground, design, seed, hits, places, images, captions, roles)
