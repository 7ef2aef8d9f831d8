"""What every reading of embeddings begins with: pictures that are there, and rows encoded a chunk at a time."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from core.errors import CounterpartError, some_of
from core.progress import Progress
from corpus.models import Caption, Image
from mitl.annotators.base import EmbeddingAnnotator, Embeddings, Machine
from mitl.embedding_cache import PART, EmbeddingCache

CHUNK = 128

Row = TypeVar("Row", Image, Caption)
Encode = Callable[[Sequence[Row]], Embeddings]


def check_pictures(machine: Machine, images: Sequence[Image]) -> None:
    """Raise CounterpartError where the machine looks at pictures and some are not there."""
    without = [image.key for image in images if not image.file]
    if machine.looks_at_pictures and without:
        raise CounterpartError(
            f"{len(without)} of {len(images)} images lack a picture file: {some_of(without)}."
            " Import the collection again with --images, or use a machine that only reads captions (overlap)."
        )


def encode_both(
    machine: EmbeddingAnnotator,
    images: Sequence[Image],
    captions: Sequence[Caption],
    *,
    cache: EmbeddingCache | None = None,
    progress: Progress,
) -> tuple[Embeddings, Embeddings]:
    """Return the embeddings of N images, (N, D) or (N, K, D), and of M captions.

    Those in ``cache`` are read; what is made is kept there, so that an interrupted encoding goes on where it was.
    """
    return (
        _encoded(machine.encode_images, images, cache, "reading images", progress),
        _encoded(machine.encode_captions, captions, cache, "reading captions", progress),
    )


def _encoded(
    encode: Encode[Row], rows: Sequence[Row], cache: EmbeddingCache | None, step: str, progress: Progress
) -> Embeddings:
    parts = []
    for start in range(0, len(rows), PART):
        part = rows[start : start + PART]
        make = partial(_in_chunks, encode, said=partial(_said, progress, step, start, len(rows)))
        parts.append(cache.part(part, make) if cache else make(part))
        progress(step, start + len(part), len(rows))
    return np.concatenate(parts)


def _said(progress: Progress, step: str, before: int, total: int, done: int) -> None:
    progress(step, before + done, total)


def _in_chunks(encode: Encode[Row], rows: Sequence[Row], said: Callable[[int], None]) -> Embeddings:
    chunks = []
    for start in range(0, len(rows), CHUNK):
        chunks.append(encode(rows[start : start + CHUNK]))
        said(min(start + CHUNK, len(rows)))
    return np.concatenate(chunks)
