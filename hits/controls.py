"""Candidates for gold controls: original pairs as positives, pairs that no annotator ranks high as negatives; and what
packing avoids: controls that were retired, are known matches or are asked about; and excluded images and captions."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from core.errors import CounterpartError
from corpus.models import Collection, Match, Sample
from hits.models import Control
from hits.packing.dealing import draw_outside
from hits.packing.designs import Design
from hits.packing.plan import Codes, Sides, distinct
from mitl.models import Direction, Pool
from mitl.search.gallery import RankedLists, load_lists

Keys = list[list[str | None]]
"""Keys of an image and a caption, for each pair that is avoided; None means all of that side."""


def avoided_pairs(collection: Collection) -> Keys:
    """Return, in order, all pairs of each image and each caption that a review excluded, and the pairs whose control
    was retired, in whichever round of the collection."""
    images, captions = (
        side.filter(excluded_at__isnull=False).order_by("key").values_list("key", flat=True)
        for side in (collection.images, collection.captions)
    )
    retired = Control.objects.filter(round__pool__collection=collection, state=Control.State.RETIRED)
    avoided: Keys = [[key, None] for key in images] + [[None, key] for key in captions]
    pairs = sorted(retired.order_by().values_list("image__key", "caption__key").distinct())
    return avoided + [[image, caption] for image, caption in pairs]


@dataclass(frozen=True)
class Avoided:
    """What packing avoids, as codes: ``pairs`` (n, 2) are not controls, ``images`` and ``captions`` are in no item."""

    pairs: NDArray[np.int64]
    images: Codes
    captions: Codes

    @classmethod
    def of(cls, keys: Keys, sides: Sides) -> "Avoided":
        """Return the codes of ``keys``, -1 for all of a side, without keys that are not numbered."""
        places = ({key: code for code, key in enumerate(side.keys)} for side in (sides.images, sides.captions))
        image_codes, caption_codes = ({**codes, None: -1} for codes in places)
        numbered = [(image, caption) for image, caption in keys if image in image_codes and caption in caption_codes]
        rows = [(image_codes[image], caption_codes[caption]) for image, caption in numbered]
        images, captions = np.array(rows, np.int64).reshape(-1, 2).T
        both = (images >= 0) & (captions >= 0)
        return cls(np.stack([images, captions], axis=1)[both], images[captions < 0], captions[images < 0])

    def and_pairs(self, *more: NDArray[np.int64]) -> "Avoided":
        """Return the same with further pairs (n, 2) that are not controls."""
        return replace(self, pairs=np.concatenate([self.pairs, *more]))

    def allows(self, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of ``pairs`` (n, 2) may be candidates."""
        return ~(np.isin(pairs[:, 0], self.images) | np.isin(pairs[:, 1], self.captions))


def original_pairs(sample: Sample, sides: Sides) -> NDArray[np.int64]:
    """Return the original pairs of the sample's query images and query captions, as rows of codes (n, 2).

    Only original matches are read: positive controls must not reveal matches that a round is meant to find.
    """
    of_query = Q(image__in=_members(sample, "images")) | Q(caption__in=_members(sample, "captions"))
    originals = Match.objects.filter(of_query, collection=sample.collection, source=Match.ORIGINAL)
    return sides.pair_codes(originals.values_list("image_id", "caption_id"))


def known_matches(collection: Collection, sides: Sides, *, newest: int) -> NDArray[np.int64]:
    """Return the pairs that a source but the original one names, whatever its score, as rows of codes (n, 2): any of
    them may be a match, so none is a negative control. ``newest`` is the database id of the last match that counts."""
    matches = Match.objects.filter(collection=collection)

    def pairs(rows: QuerySet[Match]) -> NDArray[np.int64]:
        return sides.pair_codes(rows.values_list("image_id", "caption_id").iterator(chunk_size=20_000))

    named = pairs(matches.exclude(source=Match.ORIGINAL).filter(pk__lte=newest))
    if not len(named):
        return named  # the originals may be many
    originals = pairs(matches.filter(source=Match.ORIGINAL))
    return named[~np.isin(sides.cells(named), sides.cells(originals))]


def spared_originals(
    originals: NDArray[np.int64], asked: NDArray[np.int64], sides: Sides, design: Design
) -> NDArray[np.int64]:
    """Return the ``originals`` (n, 2) that are not positive controls because they are ``asked`` (m, 2) about, and a
    worker may meet them as candidates; only as many as leave enough others for every HIT."""
    needed = ceil(len(asked) / design.candidates) * design.positives + design.candidates
    are_asked = np.isin(sides.cells(originals), sides.cells(asked))
    return originals[are_asked][: max(0, len(originals) - needed)]


@dataclass(frozen=True)
class Unlisted:
    """Pairs outside the top ``control_depth`` of every annotator's lists: those of ``domain`` but for ``listed``."""

    domain: "_Domain"
    listed: Codes  # numbers in the domain, ascending

    @property
    def images(self) -> Codes:
        return self.domain.images

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw distinct pairs uniformly, as rows of codes (n, 2): ``count`` of them, or all if there are fewer."""
        return self.domain.pairs(draw_outside(self.listed, self.domain.size, count, rng))

    def captions_of(self, image: int, count: int, rng: np.random.Generator) -> Codes:
        """Draw distinct captions of the pairs of one of the images: ``count`` of them, or all if there are fewer."""
        width = len(self.domain.captions)
        first = int(np.searchsorted(self.domain.images, image)) * width
        begin, end = np.searchsorted(self.listed, [first, first + width])
        listed = self.listed[begin:end].astype(np.int64) - first
        return self.domain.captions[draw_outside(listed, width, count, rng)]


def unlisted_pairs(pool: Pool, sides: Sides, *, known: NDArray[np.int64], avoided: Avoided) -> Unlisted:
    """Return the pairs that no annotator ranks high, from which negative controls are drawn.

    They are pairs whose lists are all known: query images with query captions if the sample has both, else queries with
    the whole gallery; of a gallery beyond rows, whose items the queries need not be, queries of one side with the items
    that were found for any of them. Without what is ``avoided``. ``known`` (m, 2) are further pairs to leave out
    (originals, candidates). Raises CounterpartError if there is none.
    """
    domain = _domain(pool, sides, avoided)
    listed = [domain.numbers(*known.T), domain.numbers(*avoided.pairs.T)]
    for retrieval in pool.retrievals.all():
        for direction, ranked in load_lists(retrieval, pool.sample).items():
            listed.append(domain.numbers(*_listed(ranked.top(pool.control_depth), direction, sides)))
    outside = distinct(np.concatenate(listed))
    if len(outside) == domain.size:
        raise CounterpartError(
            f"The pool {pool.name} has no negative control: all {domain.size:,} pairs of its queries are in a "
            f"top-{pool.control_depth} list or known matches. Pool more queries or use a smaller --control-depth."
        )
    return Unlisted(domain, outside)


@dataclass(frozen=True)
class _Domain:
    """All pairs of some image codes and some caption codes (both ascending), numbered row by row."""

    images: Codes
    captions: Codes
    shape: tuple[int, int]  # number of all images and captions

    @property
    def size(self) -> int:
        return len(self.images) * len(self.captions)

    def numbers(self, images: Codes, captions: Codes) -> Codes:
        """Return the numbers of the pairs in the domain; codes of -1 are outside. The narrowest type sorts fastest."""
        rows = _places(self.images, self.shape[0])[images]
        columns = _places(self.captions, self.shape[1])[captions]
        inside = (rows >= 0) & (columns >= 0)
        return (rows[inside] * len(self.captions) + columns[inside]).astype(np.min_scalar_type(self.size))

    def pairs(self, numbers: Codes) -> NDArray[np.int64]:
        rows, columns = np.divmod(numbers, len(self.captions))
        return np.stack([self.images[rows], self.captions[columns]], axis=1)


def _domain(pool: Pool, sides: Sides, avoided: Avoided) -> _Domain:
    asked = {
        "images": _members(pool.sample, "images") if Direction.IMAGE_TO_CAPTION in pool.directions else [],
        "captions": _members(pool.sample, "captions") if Direction.CAPTION_TO_IMAGE in pool.directions else [],
    }
    images = list(asked["images"])
    captions = list(asked["captions"])
    if pool.retrievals.exclude(gallery=None).exists():
        direction = Direction.IMAGE_TO_CAPTION if images else Direction.CAPTION_TO_IMAGE
        items = _found(pool, direction)
        images, captions = (images, items) if images else (items, captions)
    images = images or list(pool.collection.images.gallery().values_list("pk", flat=True))
    captions = captions or list(pool.collection.captions.gallery().values_list("pk", flat=True))
    shown = np.setdiff1d(sides.images.known(images), avoided.images)
    asked_about = np.setdiff1d(sides.captions.known(captions), avoided.captions)
    return _Domain(shown, asked_about, sides.shape)


def _found(pool: Pool, direction: Direction) -> list[int]:
    """Return the ids of the items in the pool's lists of one direction."""
    lists = [load_lists(retrieval, pool.sample)[direction].items for retrieval in pool.retrievals.all()]
    found: list[int] = np.setdiff1d(np.concatenate([items.ravel() for items in lists]), [0]).tolist()
    return found


def _places(codes: Codes, size: int) -> Codes:
    """Return the place of each of ``size`` codes among ``codes``, -1 if absent; the last entry serves code -1."""
    places = np.full(size + 1, -1)
    places[codes] = np.arange(len(codes))
    return places


def _members(sample: Sample, side: str) -> QuerySet[Any, int]:
    """Return the ids of a sample's images or captions without joining their tables."""
    return getattr(sample, side).through.objects.filter(sample=sample).values_list(f"{side[:-1]}_id", flat=True)


def _listed(ranked: RankedLists, direction: Direction, sides: Sides) -> tuple[Codes, Codes]:
    """Return the image codes and caption codes of all places of the lists; padding has code -1."""
    i2t = direction == Direction.IMAGE_TO_CAPTION
    asked, named = (sides.images, sides.captions) if i2t else (sides.captions, sides.images)
    queries = np.repeat(asked.codes(ranked.queries), ranked.items.shape[1])
    items = named.codes(ranked.items).ravel()
    return (queries, items) if i2t else (items, queries)
