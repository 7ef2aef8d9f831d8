"""Plans of HITs of single pairs: packed so that they share nothing, with gold controls dealt to each."""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from django.db.models import Max
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from corpus.models import Collection
from hits.controls import Avoided, original_pairs, unlisted_pairs
from hits.packing.dealing import Deck, deal_controls
from hits.packing.designs import Design
from hits.packing.plan import NEGATIVE, POSITIVE, Items, Numbering, Plan, Sharing, Sides, shuffle_places
from mitl.models import Pool

MOST_BATCHES = 20
"""Batches of HITs in which an audit is packed, so that its first queries are judged whole while others wait."""
Newest = dict[str, int]
"""The database ids of the newest of the ``images``, ``captions`` and ``matches`` that a round was packed from."""


@dataclass(frozen=True)
class PlanRequest:
    """What HITs are planned from: a pool and those of its ``pairs`` (n, 2) to ask about, as codes of the ``sides``.

    ``avoided`` is in no control, or in no item at all. ``positives`` is the match source of a task that needs one.
    ``in_order``: the first HITs ask the first pairs.
    """

    pool: Pool
    sides: Sides
    pairs: NDArray[np.int64]
    design: Design
    seed: int
    sharing: Sharing
    avoided: Avoided
    positives: str = ""
    in_order: bool = False
    progress: Progress = silent


def plan_pairs(request: PlanRequest) -> Plan:
    """Pack the pairs into HITs and deal controls from the pool's."""
    design = request.design
    sharing = request.sharing
    streams = np.random.default_rng(request.seed).spawn(5)
    images, captions = request.pairs.T
    request.progress("filling HITs", 0, None)
    hits = _hits_of_pairs(request, streams[0])
    candidates = Items(hits, images, captions, np.zeros_like(hits))
    request.progress("dealing controls", 0, None)
    decks = _decks(request, candidates, streams[1:4])
    controls = deal_controls(candidates, design=design, decks=decks, sharing=sharing)
    items = shuffle_places(candidates, controls, streams[4])
    places = np.arange(len(items.hits)) % design.size + 1  # every HIT is full
    return Plan(request.sides, design, request.seed, items, places)


def _hits_of_pairs(request: PlanRequest, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the HIT of each pair. Pairs in order are packed in batches, each of enough HITs that no image and no
    caption need be twice in one."""
    from hits.packing.colouring import pack_pairs  # numba takes half a second and 70 MB to import

    capacity = request.design.candidates
    images, captions = request.pairs.T
    n_hits = ceil(len(images) / capacity)
    n_batches = 1
    if request.in_order:
        most = max(np.bincount(images).max(), np.bincount(captions).max())
        n_batches = max(1, min(MOST_BATCHES, n_hits // most))
    bounds = np.linspace(0, n_hits, n_batches + 1).astype(int)
    hits = []
    for first, last in pairwise(bounds.tolist()):
        batch = slice(first * capacity, last * capacity)
        packed = pack_pairs(images[batch], captions[batch], capacity=capacity, sharing=request.sharing, rng=rng)
        hits.append(packed + first)
    return np.concatenate(hits)


def newest_of(collection: Collection) -> Newest:
    """Return by what a later plan knows what the collection holds now: no import of it is undone once it is packed."""
    held = {"images": collection.images, "captions": collection.captions, "matches": collection.matches}
    return {name: rows.aggregate(newest=Max("pk"))["newest"] or 0 for name, rows in held.items()}


def number_collection(collection: Collection, newest: Newest | None = None) -> Sides:
    """Number a collection's images and captions by their keys; those up to the ``newest``, or all."""
    images = collection.images.all()
    captions = collection.captions.all()
    if newest:
        images = images.filter(pk__lte=newest["images"])
        captions = captions.filter(pk__lte=newest["captions"])
    return Sides(_number(images), _number(captions))


def _number(rows: Any) -> Numbering:
    by_key = sorted(rows.order_by().values_list("key", "pk"))
    return Numbering(np.array([pk for _, pk in by_key], np.int64), [key for key, _ in by_key])


def _decks(request: PlanRequest, candidates: Items, streams: list[np.random.Generator]) -> dict[str, Deck]:
    pool = request.pool
    sides = request.sides
    design = request.design
    avoided = request.avoided
    originals = original_pairs(pool.sample, sides)
    positives = positive_controls(originals, sides, avoided)
    if design.positives and not len(positives):
        raise CounterpartError(f"The queries {pool.sample.name} have no original pair to use as a positive control.")
    decks = {POSITIVE: Deck(positives, streams[0])}
    if design.negatives:
        hits = ceil(len(candidates.hits) / design.candidates)
        count = 2 * (hits * design.negatives + design.candidates) + 100  # not every control fits every HIT
        known = np.concatenate([originals, np.stack([candidates.images, candidates.captions], axis=1)])
        negatives = unlisted_pairs(pool, sides, known=known, avoided=avoided).draw(count, streams[1])
        decks[NEGATIVE] = Deck(negatives, streams[2])
    return decks


def positive_controls(originals: NDArray[np.int64], sides: Sides, avoided: Avoided) -> NDArray[np.int64]:
    """Return the original pairs that may be controls: neither avoided nor retired as such."""
    retired = np.isin(sides.cells(originals), sides.cells(avoided.pairs))
    return originals[avoided.allows(originals) & ~retired]
