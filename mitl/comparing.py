"""How a machine compares embeddings when it is not by one inner product."""

from collections.abc import Callable

from numpy.typing import NDArray

from mitl.annotators.base import ComparingAnnotator, EmbeddingAnnotator, Embeddings

Compare = Callable[[Embeddings, Embeddings], NDArray]


def comparison(machine: EmbeddingAnnotator, images: Embeddings, captions: Embeddings) -> Compare | None:
    """Return what scores n images with m captions, (n, m), by their embeddings; None where inner products do.

    Raises ValueError where one side has several embeddings an item and the other has one.
    """
    if isinstance(machine, ComparingAnnotator):
        return machine.compare
    if images.ndim != captions.ndim:
        raise ValueError(f"Images have embeddings of shape {images.shape} and captions of {captions.shape}.")
    if images.ndim == 2:
        return None
    from mitl.topk.scores import best_products

    return best_products


def embeddings_an_item(embeddings: Embeddings) -> int:
    """Return how many embeddings stand for one item."""
    return embeddings.shape[1] if embeddings.ndim == 3 else 1
