"""What every reading of embeddings begins with: pictures that are there, and rows encoded a chunk at a time."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from corpus.models import Caption, Image
from journal.errors import CounterpartError, some_of
from journal.progress import Progress
from mitl.annotators.base import EmbeddingAnnotator, Embeddings, Machine

CHUNK = 128

Row = TypeVar("Row", Image, Caption)


def check_pictures(machine: Machine, images: Sequence[Image]) -> None:
    """Raise CounterpartError where the machine looks at pictures and some are not there."""
    without = [image.key for image in images if not image.file]
    if machine.looks_at_pictures and without:
        raise CounterpartError(
            f"{len(without)} of {len(images)} images lack a picture file: {some_of(without)}."
            " Import the collection again with --images, or use a machine that only reads captions (overlap)."
        )


def encode_both(
    machine: EmbeddingAnnotator, images: Sequence[Image], captions: Sequence[Caption], *, progress: Progress
) -> tuple[Embeddings, Embeddings]:
    """Return the embeddings of images (N, D) and of captions (M, D)."""
    return (
        _encoded(machine.encode_images, images, "reading images", progress),
        _encoded(machine.encode_captions, captions, "reading captions", progress),
    )


def _encoded(
    encode: Callable[[Sequence[Row]], Embeddings], rows: Sequence[Row], step: str, progress: Progress
) -> Embeddings:
    parts = []
    for start in range(0, len(rows), CHUNK):
        parts.append(encode(rows[start : start + CHUNK]))
        progress(step, min(start + CHUNK, len(rows)), len(rows))
    return np.concatenate(parts)
