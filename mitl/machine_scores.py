"""A machine's scores of chosen images and captions, as blocks: one shape for embeddings and for pair scorers."""

from collections.abc import Sequence

import numpy as np

from corpus.models import Caption, Image
from journal.errors import CounterpartError
from journal.progress import Progress, silent
from mitl.annotators.base import CrossEncoder, EmbeddingAnnotator, Machine, PairScorer
from mitl.encoding import check_pictures, encode_both
from mitl.hubness.blocks import Blocks, Computed, Products

TOO_DEAR = (
    "every score costs it a pass through a network, and re-ranking reads all scores several times;"
    " leave it out, or --rerank."
)


def machine_scores(
    machine: Machine, images: Sequence[Image], captions: Sequence[Caption], *, progress: Progress = silent
) -> Blocks:
    """Return the scores of N images (rows) and M captions (columns).

    Embeddings are made here; a pair scorer scores what is asked for, whenever it is asked.
    Raises CounterpartError for pictures that are not there, and for a machine that has ranked lists only or to which
    every pair costs; ValueError for embeddings that cannot be searched.
    """
    check_pictures(machine, images)
    if isinstance(machine, EmbeddingAnnotator):
        return _products(machine, images, captions, progress)
    if isinstance(machine, PairScorer):
        scores = machine.over(images, captions)
        return Computed((len(images), len(captions)), lambda r, c: scores.block(_places(r), _places(c)))
    if isinstance(machine, CrossEncoder):
        raise CounterpartError(TOO_DEAR)
    raise CounterpartError("it has ranked lists and no scores, which re-ranking needs; leave it out, or --rerank.")


def _products(
    machine: EmbeddingAnnotator, images: Sequence[Image], captions: Sequence[Caption], progress: Progress
) -> Products:
    """Return inner products of embeddings that pass the plain search's checks."""
    # Loading its compiled code takes a second, which only a search should cost.
    from mitl.topk.sides import open_side

    rows, columns = encode_both(machine, images, captions, progress=progress)
    return Products(open_side(rows, "images").values, open_side(columns, "captions").values)


def _places(part: slice) -> np.ndarray:
    return np.arange(part.start, part.stop)
