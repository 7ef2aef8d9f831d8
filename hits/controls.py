"""Which pairs may serve as gold controls: original pairs as positives, pairs that no machine came near as negatives."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Q, QuerySet
from numpy.typing import NDArray

from core.errors import CounterpartError
from corpus.models import Match, Sample
from hits.dealing import draw_outside
from hits.numbering import Ground
from hits.packing import Codes, distinct
from mitl.lists import RankedLists, load_lists
from mitl.models import Direction, Pool


def original_pairs(sample: Sample, ground: Ground) -> NDArray[np.int64]:
    """Return the original pairs of the sample's query images and query captions, as rows of codes (n, 2).

    No other source of matches is read: controls must not give away what a round is to find out.
    """
    of_query = Q(image__in=_members(sample, "images")) | Q(caption__in=_members(sample, "captions"))
    originals = Match.objects.filter(of_query, collection=sample.collection, source=Match.ORIGINAL)
    return ground.pair_codes(originals.values_list("image_id", "caption_id"))


def negative_pairs(
    pool: Pool, ground: Ground, *, besides: NDArray[np.int64], count: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw distinct pairs outside the top ``pool.control_depth`` of every annotator's lists, as rows of codes.

    Uniform over the pairs whose lists are all known: query image with query caption where images and captions
    were asked, else query with anything in the gallery. ``besides`` (m, 2) are pairs to leave out as well
    (originals, candidates). Returns ``count`` of them, or all there are. Raises CounterpartError if there is none.
    """
    domain = _domain(pool, ground)
    known = [domain.numbers(*besides.T)]
    for retrieval in pool.retrievals.all():
        for direction, ranked in load_lists(retrieval).items():
            known.append(domain.numbers(*_listed(ranked.top(pool.control_depth), direction, ground)))
    excluded = distinct(np.concatenate(known))
    if len(excluded) == domain.size:
        raise CounterpartError(
            f"The pool {pool.name} leaves no negative control: all {domain.size:,} pairs of its queries stand in a "
            f"top-{pool.control_depth} list or are original. Pool with more queries or a smaller --control-depth."
        )
    return domain.pairs(draw_outside(excluded, domain.size, count, rng))


@dataclass(frozen=True)
class _Domain:
    """The pairs of some image codes with some caption codes (both ascending), numbered row by row."""

    images: Codes
    captions: Codes
    shape: tuple[int, int]  # of all codes, in the domain or not

    @property
    def size(self) -> int:
        return len(self.images) * len(self.captions)

    def numbers(self, images: Codes, captions: Codes) -> Codes:
        """Number those of the pairs that lie in the domain; a code of -1 lies in none. In the narrowest type, for
        there are millions to sort."""
        rows = _places(self.images, self.shape[0])[images]
        columns = _places(self.captions, self.shape[1])[captions]
        inside = (rows >= 0) & (columns >= 0)
        return (rows[inside] * len(self.captions) + columns[inside]).astype(np.min_scalar_type(self.size))

    def pairs(self, numbers: Codes) -> NDArray[np.int64]:
        rows, columns = np.divmod(numbers, len(self.captions))
        return np.stack([self.images[rows], self.captions[columns]], axis=1)


def _domain(pool: Pool, ground: Ground) -> _Domain:
    asked = {
        "images": _members(pool.sample, "images") if Direction.IMAGE_TO_CAPTION in pool.directions else [],
        "captions": _members(pool.sample, "captions") if Direction.CAPTION_TO_IMAGE in pool.directions else [],
    }
    images = list(asked["images"]) or list(pool.collection.images.gallery().values_list("pk", flat=True))
    captions = list(asked["captions"]) or list(pool.collection.captions.gallery().values_list("pk", flat=True))
    return _Domain(np.sort(ground.images.codes(images)), np.sort(ground.captions.codes(captions)), ground.shape)


def _places(codes: Codes, size: int) -> Codes:
    """Where each of ``size`` codes stands among ``codes``: -1 for those that do not, and at the end, for code -1."""
    places = np.full(size + 1, -1)
    places[codes] = np.arange(len(codes))
    return places


def _members(sample: Sample, side: str) -> QuerySet[Any, int]:
    """The ids of a sample's images or captions, without joining their own tables."""
    return getattr(sample, side).through.objects.filter(sample=sample).values_list(f"{side[:-1]}_id", flat=True)


def _listed(ranked: RankedLists, direction: Direction, ground: Ground) -> tuple[Codes, Codes]:
    """The image codes and caption codes of all places of the lists; padding has code -1."""
    i2t = direction == Direction.IMAGE_TO_CAPTION
    asked, named = (ground.images, ground.captions) if i2t else (ground.captions, ground.images)
    queries = np.repeat(asked.codes(ranked.queries), ranked.items.shape[1])
    items = named.codes(ranked.items).ravel()
    return (queries, items) if i2t else (items, queries)
