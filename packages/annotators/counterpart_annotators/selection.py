"""Which unpaired images to ask captions for next: hard-negative scores, and Core-set.

Jo, Lee, Chung and Choi, "Active Learning for Finely-Categorized Image-Text Retrieval by Selecting Hard Negative
Unpaired Samples"; Core-set is the k-centre greedy of Sener and Savarese (2018), algorithm 1. The reverse, to choose
unpaired texts, is the same with images and texts exchanged.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

WEIGHTS = ("surplus", "count")
BLOCK = 1024  # texts, or unpaired images, whose similarities are in memory at once

Floats = NDArray[np.float64]


def hard_negative_scores(
    unpaired: ArrayLike,
    paired: ArrayLike,
    texts: ArrayLike,
    *,
    top_k: int = 1,
    mini_batch: int | None = None,
    weight: str = "surplus",
    seed: int = 0,
) -> Floats:
    """Return h of every unpaired image (eq. 5): how strongly it is a hard negative of the texts of the paired images.

    An image is a hard negative of text j if its cosine similarity s to it exceeds the threshold of the text: the
    ``top_k``-th largest similarity of the text to the paired images other than its own, row j (eq. 2 and 4). A tie is
    not a hard negative. The images of the highest scores are those to ask captions for.

    Args:
        unpaired: embeddings (X, D) of the unpaired images.
        paired: embeddings (Z, D) of the paired images.
        texts: embeddings (Z, D) of their texts, row by row. Rows need no unit length; a row of zeros has similarity 0.
        mini_batch: number of pairs that are drawn by ``seed`` and represent all, as images in the thresholds (eq. 3)
            and as texts in the sum; None, or the number of pairs or more, for the full batch.
        weight: ``count`` counts the texts; ``surplus`` sums s minus the threshold over them (eq. 6).

    Returns:
        (X,) scores, at least 0.

    Raises:
        ValueError: for other shapes, embeddings that are not finite, an unknown weight, and fewer pairs than one more
            than ``top_k``.

    >>> hard_negative_scores([[1, 0], [0, 1]], [[0, 1], [1, 0]], [[3, 4], [4, 3]], weight="count")
    array([1., 1.])
    """
    images, known, words = _checked(unpaired=unpaired, paired=paired, texts=texts)
    if len(known) != len(words):
        raise ValueError(f"There are {len(known)} paired images and {len(words)} texts; give a text for each image.")
    if weight not in WEIGHTS:
        raise ValueError(f"Unknown weight {weight!r}; use one of {', '.join(WEIGHTS)}.")
    drawn = _drawn(len(known), mini_batch, seed)
    if not 1 <= top_k < len(drawn):
        raise ValueError(f"Invalid top_k {top_k}: with {len(drawn)} pairs, use 1 to {len(drawn) - 1}.")
    images = _unit(images)
    known = _unit(known[drawn])
    words = _unit(words[drawn])
    scores = np.zeros(len(images))
    for start in range(0, len(words), BLOCK):
        some = words[start : start + BLOCK]
        surplus = images @ some.T - _thresholds(known, some, start, top_k)
        scores += (surplus > 0).sum(1) if weight == "count" else surplus.clip(min=0).sum(1)
    return scores


def core_set(paired: ArrayLike, unpaired: ArrayLike, n: int) -> NDArray[np.int64]:
    """Choose ``n`` unpaired images by k-centre greedy: each time the one farthest from all paired and chosen ones.

    Args:
        paired: embeddings (Z, D) of the paired images, the first centres.
        unpaired: embeddings (X, D) of the unpaired images. Distances are Euclidean.

    Returns:
        (n,) places in ``unpaired``, in the order of choice; of equally far images the one of the lowest place.

    Raises:
        ValueError: for other shapes, embeddings that are not finite, no paired image, and ``n`` outside 0 to X.

    >>> core_set([[0.0]], [[1.0], [5.0], [4.0]], 2)
    array([1, 0])
    """
    centres, images = _checked(paired=paired, unpaired=unpaired)
    if not len(centres):
        raise ValueError("Core-set needs a paired image to begin with.")
    if not 0 <= n <= len(images):
        raise ValueError(f"Invalid number of images {n}: use 0 to {len(images)}.")
    distances = _squares_to_nearest(images, centres)
    chosen = np.empty(n, dtype=np.int64)
    for place in range(n):
        chosen[place] = distances.argmax()
        farthest = images[chosen[place]]
        distances = np.minimum(distances, np.square(images - farthest).sum(1))
        distances[chosen[place]] = -1  # never again, also where all others lie on centres
    return chosen


def _thresholds(known: Floats, texts: Floats, start: int, top_k: int) -> Floats:
    """Return the thresholds of the texts of the images from row ``start`` of ``known`` on."""
    similarity = known @ texts.T
    own = np.arange(len(texts))
    similarity[start + own, own] = -np.inf
    thresholds: Floats = np.partition(similarity, len(known) - top_k, axis=0)[len(known) - top_k]
    return thresholds


def _drawn(pairs: int, mini_batch: int | None, seed: int) -> NDArray[np.int64]:
    """Return the rows of the pairs to use, rising."""
    if mini_batch is None or mini_batch >= pairs:
        return np.arange(pairs)
    if mini_batch < 1:
        raise ValueError(f"Invalid mini_batch {mini_batch}: use a number of pairs, or None for all.")
    return np.sort(np.random.default_rng(seed).choice(pairs, mini_batch, replace=False))


def _squares_to_nearest(images: Floats, centres: Floats) -> Floats:
    """Return the squared distance of each image to its nearest centre."""
    of_centres = np.square(centres).sum(1)
    nearest = np.empty(len(images))
    for start in range(0, len(images), BLOCK):
        some = images[start : start + BLOCK]
        squares = np.square(some).sum(1)[:, None] - 2 * some @ centres.T + of_centres
        nearest[start : start + BLOCK] = squares.min(1).clip(min=0)
    return nearest


def _checked(**embeddings: ArrayLike) -> list[Floats]:
    """Return embeddings as matrices of one width. Raises ValueError for any other."""
    arrays = {name: np.asarray(rows, dtype=np.float64) for name, rows in embeddings.items()}
    shapes = ", ".join(f"{name} of shape {array.shape}" for name, array in arrays.items())
    if any(array.ndim != 2 for array in arrays.values()) or len({array.shape[1] for array in arrays.values()}) > 1:
        raise ValueError(f"Embeddings must be matrices of one width, not {shapes}.")
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"The embeddings {name} hold numbers that are not finite.")
    return list(arrays.values())


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)
