"""A machine's scores of chosen images and captions, as blocks: one shape for embeddings and for pair scorers."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from corpus.models import Caption, Image
from journal.errors import CounterpartError
from journal.progress import Progress, silent
from mitl.annotators.base import EmbeddingAnnotator, Embeddings, Machine, PairScorer
from mitl.hubness.blocks import Blocks, Computed, Products

CHUNK = 128

Row = TypeVar("Row", Image, Caption)


def machine_scores(
    machine: Machine, images: Sequence[Image], captions: Sequence[Caption], *, progress: Progress = silent
) -> Blocks:
    """Return the scores of N images (rows) and M captions (columns).

    Embeddings are made here; a pair scorer scores what is asked for, whenever it is asked.
    Raises CounterpartError for a machine that has ranked lists only.
    """
    if isinstance(machine, EmbeddingAnnotator):
        return Products(
            _encoded(machine.encode_images, images, "reading images", progress),
            _encoded(machine.encode_captions, captions, "reading captions", progress),
        )
    if isinstance(machine, PairScorer):
        scores = machine.over(images, captions)
        return Computed((len(images), len(captions)), lambda r, c: scores.block(_places(r), _places(c)))
    raise CounterpartError("it has ranked lists and no scores, which re-ranking needs; leave it out, or --rerank.")


def _encoded(
    encode: Callable[[Sequence[Row]], Embeddings], rows: Sequence[Row], step: str, progress: Progress
) -> Embeddings:
    parts = []
    for start in range(0, len(rows), CHUNK):
        parts.append(encode(rows[start : start + CHUNK]))
        progress(step, min(start + CHUNK, len(rows)), len(rows))
    return np.concatenate(parts)


def _places(part: slice) -> np.ndarray:
    return np.arange(part.start, part.stop)
