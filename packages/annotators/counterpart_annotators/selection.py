"""Which unpaired images to ask captions for next: hard-negative scores, and Core-set.

Jo, Lee, Chung and Choi, "Active Learning for Finely-Categorized Image-Text Retrieval by Selecting Hard Negative
Unpaired Samples"; Core-set is the k-centre greedy of Sener and Savarese (2018), algorithm 1. The reverse, to choose
unpaired texts, is the same with images and texts exchanged.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from counterpart_topk.hubness.score_blocks import Blocks

WEIGHTS = ("surplus", "count")
BLOCK = 1024  # texts, or unpaired images, whose similarities are in memory at once
LEARNED = 20_000  # regions that clusters are learned on
ROUNDS = 20  # of k-means

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
    drawn = _drawn(len(known), mini_batch, seed)
    rows = np.concatenate([images, known[drawn]])
    return hard_negatives(_Cosines(_unit(rows), _unit(words[drawn])), top_k=top_k, weight=weight)


def hard_negatives(
    similarity: "Blocks", *, top_k: int = 1, mini_batch: int | None = None, weight: str = "surplus"
) -> Floats:
    """Return the h of ``hard_negative_scores`` from similarities of any model, which need not be in memory.

    Args:
        similarity: (X + T, T). Rows: the X unpaired images, then the paired image of each text in the order of the
            columns, the T texts. For unpaired texts, the same with texts as rows and images as columns.
        mini_batch: number of pairs, the first ones, that represent all; give the pairs in random order.

    Returns:
        (X,) scores, at least 0.

    Raises:
        ValueError: for an unknown weight, and fewer pairs than one more than ``top_k``.
    """
    if weight not in WEIGHTS:
        raise ValueError(f"Unknown weight {weight!r}; use one of {', '.join(WEIGHTS)}.")
    blocks = _surpluses(similarity, top_k, mini_batch)
    parts = [(block > 0).sum(1) if weight == "count" else block.clip(min=0).sum(1) for block in blocks]
    return np.sum(parts, axis=0, dtype=np.float64)


def surpluses_of(
    similarity: "Blocks", image: int, *, top_k: int = 1, mini_batch: int | None = None
) -> NDArray[np.float64]:
    """Return by how much one unpaired image exceeds the threshold of each text: w of eq. 6, (T,), 0 where it does not.

    Their sum is the image's surplus score (figure 1). ``similarity`` is that of ``hard_negatives``.
    """
    return np.concatenate([block[image].clip(min=0) for block in _surpluses(similarity, top_k, mini_batch)])


def hard_negative_share(scores: ArrayLike) -> float:
    """Return the share, in percent, of unpaired images that are a hard negative of at least one text (table 4).

    ``scores`` are those of ``hard_negatives``, of either weight; both are above 0 exactly for such images. Raises
    ValueError without an image.

    >>> hard_negative_share([0.0, 0.25, 0.5, 0.0])
    50.0
    """
    values = np.asarray(scores, dtype=np.float64)
    if not values.size:
        raise ValueError("The share of hard negatives needs the score of at least one unpaired image.")
    return float(100 * (values > 0).mean())


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
    distances, _ = _nearest(images, centres)
    chosen = np.empty(n, dtype=np.int64)
    for place in range(n):
        chosen[place] = distances.argmax()
        farthest = images[chosen[place]]
        distances = np.minimum(distances, np.square(images - farthest).sum(1))
        distances[chosen[place]] = -1  # never again, also where all others lie on centres
    return chosen


def bags_of_regions(regions: ArrayLike, clusters: int = 300, *, seed: int = 0) -> Floats:
    """Return how many regions of each image are in each cluster of regions: Core-set-BoW (Jo et al., appendix C).

    Args:
        regions: (N, R, D), R region features of each image.
        clusters: number of clusters of k-means; of fewer different regions each is a cluster. The clusters are learned
            on at most 20,000 regions that ``seed`` draws.

    Returns:
        (N, K) counts, each row of sum R; ``core_set`` takes them.

    Raises:
        ValueError: for another shape, features that are not finite, and ``clusters`` below 1.

    >>> bags_of_regions([[[0.0], [0.1]], [[9.0], [0.0]]], 2).sum(1)
    array([2., 2.])
    """
    from scipy.cluster.vq import kmeans2

    features = np.asarray(regions, dtype=np.float64)
    if features.ndim != 3 or 0 in features.shape or not np.isfinite(features).all():
        raise ValueError(f"Regions must be finite numbers (images, regions, D), not of shape {features.shape}.")
    if clusters < 1:
        raise ValueError(f"Invalid number of clusters {clusters}: use 1 or more.")
    points = features.reshape(-1, features.shape[2])
    rng = np.random.default_rng(seed)
    sample = rng.permutation(points)[:LEARNED]
    different = np.unique(sample, axis=0)
    first = rng.permutation(different)[:clusters]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a cluster that loses all its regions, and stays
        centres = kmeans2(sample, first, iter=ROUNDS, minit="matrix")[0]
    _, nearest = _nearest(points, centres)
    bags = np.zeros((len(features), len(centres)))
    np.add.at(bags, (np.repeat(np.arange(len(features)), features.shape[1]), nearest), 1)
    return bags


@dataclass(frozen=True)
class _Cosines:
    """Similarities of unit rows, in float64."""

    rows: Floats
    columns: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.columns)

    def block(self, rows: slice, columns: slice) -> Floats:
        product: Floats = self.rows[rows] @ self.columns[columns].T
        return product


def _surpluses(similarity: "Blocks", top_k: int, mini_batch: int | None) -> Iterator[Floats]:
    """Yield the similarities of the unpaired images minus the thresholds of the texts, (X, BLOCK) at a time."""
    rows, texts = similarity.shape
    if rows < texts:
        raise ValueError(f"Similarities of shape {similarity.shape} have fewer rows than the {texts} paired images.")
    pairs = min(texts, mini_batch or texts)
    if not 1 <= top_k < pairs:
        raise ValueError(f"Invalid top_k {top_k}: with {pairs} pairs, use 1 to {pairs - 1}.")
    unpaired = rows - texts
    for start in range(0, pairs, BLOCK):
        stop = min(start + BLOCK, pairs)
        block = similarity.block(slice(0, unpaired + pairs), slice(start, stop)).astype(np.float64)
        known = block[unpaired:]
        own = np.arange(stop - start)
        known[start + own, own] = -np.inf
        thresholds = np.partition(known, pairs - top_k, axis=0)[pairs - top_k]
        yield block[:unpaired] - thresholds


def _drawn(pairs: int, mini_batch: int | None, seed: int) -> NDArray[np.int64]:
    """Return the rows of the pairs to use, rising."""
    if mini_batch is None or mini_batch >= pairs:
        return np.arange(pairs)
    if mini_batch < 1:
        raise ValueError(f"Invalid mini_batch {mini_batch}: use a number of pairs, or None for all.")
    return np.sort(np.random.default_rng(seed).choice(pairs, mini_batch, replace=False))


def _nearest(rows: Floats, centres: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return each row's squared distance to its nearest centre, and the place of that; of equals the lowest."""
    of_centres = np.square(centres).sum(1)
    nearest = np.empty(len(rows))
    places = np.empty(len(rows), dtype=np.int64)
    for start in range(0, len(rows), BLOCK):
        some = rows[start : start + BLOCK]
        squares = np.square(some).sum(1)[:, None] - 2 * some @ centres.T + of_centres
        nearest[start : start + BLOCK] = squares.min(1).clip(min=0)
        places[start : start + BLOCK] = squares.argmin(1)
    return nearest, places


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
