"""A machine's scores of chosen images and captions, as blocks: one shape for embeddings and for pair scorers."""

from collections.abc import Sequence

import numpy as np

from core.errors import CounterpartError
from core.progress import Progress, silent
from corpus.models import Caption, Image
from mitl.annotators.base import CrossEncoder, EmbeddingAnnotator, Embeddings, Machine, PairScorer
from mitl.comparing import comparison
from mitl.embedding_cache import EmbeddingCache
from mitl.encoding import check_pictures, encode_both
from mitl.hubness.blocks import Blocks, Computed, Products

TOO_DEAR = (
    "every score costs it a pass through a network, and re-ranking reads all scores several times;"
    " leave it out, or --rerank."
)


def machine_scores(
    machine: Machine,
    images: Sequence[Image],
    captions: Sequence[Caption],
    *,
    cache: EmbeddingCache | None = None,
    progress: Progress = silent,
) -> Blocks:
    """Return the scores of N images (rows) and M captions (columns).

    Embeddings are made here, or read from ``cache``; a pair scorer scores what is asked for, whenever it is asked.
    Raises CounterpartError for pictures that are not there, and for a machine that has ranked lists only or to which
    every pair costs; ValueError for embeddings that cannot be searched.
    """
    check_pictures(machine, images)
    if isinstance(machine, EmbeddingAnnotator):
        return _by_embeddings(*encode_both(machine, images, captions, cache=cache, progress=progress), machine)
    if isinstance(machine, PairScorer):
        scores = machine.over(images, captions)
        return Computed((len(images), len(captions)), lambda r, c: scores.block(_places(r), _places(c)))
    if isinstance(machine, CrossEncoder):
        raise CounterpartError(TOO_DEAR)
    raise CounterpartError("it has ranked lists and no scores, which re-ranking needs; leave it out, or --rerank.")


def _by_embeddings(rows: Embeddings, columns: Embeddings, machine: EmbeddingAnnotator) -> Blocks:
    """Compare embeddings as the machine does; inner products only of those that pass the plain search's checks."""
    compare = comparison(machine, rows, columns)
    if compare is not None:
        return Computed((len(rows), len(columns)), lambda r, c: compare(rows[r], columns[c]))
    # Loading its compiled code takes a second, which only a search should cost.
    from mitl.topk.sides import open_side

    return Products(open_side(rows, "images").values, open_side(columns, "captions").values)


def _places(part: slice) -> np.ndarray:
    return np.arange(part.start, part.stop)
