"""How unsure a machine is of single images and captions: measured once for a gallery, and kept.

PCME gives every item a distribution and not a point; its width says how much could be meant. ``multiplicity`` holds
it against the matches that items have.
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
from corpus.models import Caption, Collection, Image, Match
from mitl.annotators import load
from mitl.checkpoints import Checkpoints
from mitl.gallery import Gallery
from mitl.models import Annotator
from mitl.search.embeddings import encode_rows
from mitl.training.examples import WORST_POSITIVE_GRADE

PART = "uncertainty"
Widths = NDArray[np.float32]


@runtime_checkable
class UnsureAnnotator(Protocol):
    """A machine that tells how unsure it is: numbers above 0, larger for the items that could mean more."""

    def uncertainty_of_images(self, images: Sequence[Image]) -> Widths:
        """Return one number an image, (N,)."""

    def uncertainty_of_captions(self, captions: Sequence[Caption]) -> Widths:
        """Return one number a caption, (M,)."""


@dataclass(frozen=True)
class Uncertainty:
    """How unsure a machine is of a gallery's images (N,) and captions (M,), in the gallery's order."""

    images: Widths
    captions: Widths


def measure_uncertainty(
    annotator: Annotator, gallery: Gallery, *, device: str = "cpu", progress: Progress = silent
) -> Uncertainty:
    """Return what was measured before, or measure and keep it.

    Raises CounterpartError for a machine that does not know how unsure it is, or images without pictures.
    """
    kept = kept_uncertainty(annotator, gallery)
    if kept:
        return kept
    machine = load(annotator, device)
    if not isinstance(machine, UnsureAnnotator):
        raise CounterpartError(
            f"{annotator} is of kind {annotator.kind}, which is as sure of one item as of another; ask a pcme."
        )
    machine.check_pictures(gallery.images)
    images = encode_rows(machine.uncertainty_of_images, gallery.images, None, "reading images", progress)
    captions = encode_rows(machine.uncertainty_of_captions, gallery.captions, None, "reading captions", progress)
    _folder(annotator, gallery).save(PART, images=images, captions=captions)
    return Uncertainty(images, captions)


def kept_uncertainty(annotator: Annotator, gallery: Gallery) -> Uncertainty | None:
    """Return what was measured before, or None: quick enough for a page."""
    found = _folder(annotator, gallery).load(PART)
    return Uncertainty(**found) if found else None


def count_positives(gallery: Gallery, collection: Collection, source: str = Match.ORIGINAL) -> tuple[NDArray, NDArray]:
    """Return how many captions match each image (N,), and how many images each caption (M,), as ``source`` knows it.

    Of a source with levels, 1 and 2 are matches. Raises CounterpartError for an unknown source.
    """
    pairs = known_pairs(collection, source, max_grade=WORST_POSITIVE_GRADE)
    inside = np.isin(pairs[:, 0], gallery.image_ids) & np.isin(pairs[:, 1], gallery.caption_ids)
    images = np.searchsorted(gallery.image_ids, pairs[inside, 0])
    captions = np.searchsorted(gallery.caption_ids, pairs[inside, 1])
    n, m = len(gallery.image_ids), len(gallery.caption_ids)
    return np.bincount(images, minlength=n), np.bincount(captions, minlength=m)


def _folder(annotator: Annotator, gallery: Gallery) -> Checkpoints:
    """Weights, settings and gallery decide the numbers. They are few, so they stay."""
    what = json.dumps([annotator.checksum, annotator.options, gallery.digest], sort_keys=True)
    return Checkpoints(settings.VAR_DIR / "uncertainty" / hashlib.sha256(what.encode()).hexdigest())
