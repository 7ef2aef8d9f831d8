"""How uncertain an annotator is of single images and captions: measured once for a gallery, and kept.

PCME represents an item by a distribution instead of a point; its width is the uncertainty.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from corpus.matches import known_pairs
from corpus.models import Collection, Match
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.encoding import encode_rows
from counterpart_annotators.plain import PlainCaption, PlainImage
from mitl.annotators import load
from mitl.models import Annotator
from mitl.search.gallery import SearchGallery
from mitl.search.tuning import places_of_pairs
from mitl.training.examples import WORST_POSITIVE_GRADE

PART = "uncertainty"
Widths = NDArray[np.float32]


@runtime_checkable
class UnsureAnnotator(Protocol):
    """An annotator that measures its uncertainty: numbers above 0, larger for ambiguous items."""

    def uncertainty_of_images(self, images: Sequence[PlainImage]) -> Widths:
        """Return one number an image, (N,)."""

    def uncertainty_of_captions(self, captions: Sequence[PlainCaption]) -> Widths:
        """Return one number a caption, (M,)."""


@dataclass(frozen=True)
class Uncertainty:
    """Uncertainty of a gallery's images (N,) and captions (M,), in the gallery's order."""

    images: Widths
    captions: Widths


def measure_uncertainty(
    annotator: Annotator, gallery: SearchGallery, *, device: str = "cpu", progress: Progress = silent
) -> Uncertainty:
    """Return the uncertainty measured before, or measure and keep it.

    Raises CounterpartError for annotators without uncertainty estimates, or images without pictures.
    """
    kept = kept_uncertainty(annotator, gallery)
    if kept:
        return kept
    opened = load(annotator, device)
    if not isinstance(opened, UnsureAnnotator):
        raise CounterpartError(
            f"{annotator} is of kind {annotator.kind}, which gives no uncertainty estimates; use one of kind pcme."
        )
    opened.check_pictures(gallery.images)
    images = encode_rows(opened.uncertainty_of_images, gallery.images, None, "reading images", progress)
    captions = encode_rows(opened.uncertainty_of_captions, gallery.captions, None, "reading captions", progress)
    _folder(annotator, gallery).save(PART, images=images, captions=captions)
    return Uncertainty(images, captions)


def kept_uncertainty(annotator: Annotator, gallery: SearchGallery) -> Uncertainty | None:
    """Return the uncertainty measured before, or None: fast enough for a page."""
    arrays = _folder(annotator, gallery).load(PART)
    return Uncertainty(**arrays) if arrays else None


def count_positives(
    gallery: SearchGallery, collection: Collection, source: str = Match.ORIGINAL
) -> tuple[NDArray, NDArray]:
    """Return how many captions match each image (N,), and how many images each caption (M,), according to ``source``.

    Of a source with levels, 1 and 2 are matches. Raises CounterpartError for an unknown source.
    """
    known = known_pairs(collection, source, max_grade=WORST_POSITIVE_GRADE)
    images, captions = places_of_pairs(known, gallery.image_ids, gallery.caption_ids).T
    n = len(gallery.image_ids)
    m = len(gallery.caption_ids)
    return np.bincount(images, minlength=n), np.bincount(captions, minlength=m)


def _folder(annotator: Annotator, gallery: SearchGallery) -> Checkpoints:
    """Weights, settings and gallery decide the numbers. They are small, so they are never removed."""
    what = json.dumps([annotator.checksum, annotator.options, gallery.digest], sort_keys=True)
    return Checkpoints(settings.VAR_DIR / "uncertainty" / hashlib.sha256(what.encode()).hexdigest())
