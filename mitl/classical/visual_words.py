"""Pictures as histograms of visual words, over the whole or over nested cells, ready for the intersection kernel."""

import warnings
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from mitl.classical.picture_points import FEATURES, Picture, Values

WORDS = {"colour": 128, "texture": 256, "sift": 256}
PICTURES, POINTS = 200, 1000  # what words are learned from: so many points of so many pictures
ROUNDS = 20  # of k-means
LEVELS = {"histogram": 1, "pyramid": 3}
BLOCK = 8192  # points that are named at a time

Words = Mapping[str, Values]


def learn_words(pictures: Iterable[Picture], sizes: Mapping[str, int], seed: int) -> dict[str, Values]:
    """Cluster 1,000 points of each picture, by k-means, into visual words: a feature's name -> words (k, d).

    ``pictures`` should be ``PICTURES`` of the training set. Of a feature with fewer different points than ``sizes`` has
    words for it, every point is a word.
    """
    rng = np.random.default_rng(seed)
    points: dict[str, list[Values]] = {name: [] for name in sizes}
    for picture in pictures:
        for name, parts in points.items():
            values, _ = FEATURES[name](picture)
            parts.append(values[rng.permutation(len(values))[:POINTS]])
    return {name: _clustered(np.concatenate(parts), sizes[name], rng) for name, parts in points.items()}


def signature(picture: Picture, words: Words, levels: int) -> NDArray[np.float32]:
    """Return the numbers (D,) whose intersection with another picture's is the mean of their features' kernels.

    One level is the histogram kernel (section 3.3.1): the share of points of each word. With more, it is the pyramid
    kernel (section 3.3.2): level l parts the picture into 2^l x 2^l cells, and what is first met at level l of L counts
    1 / 2^(L - l). As level l's intersections hold those of level l + 1, this weighs level 0 by 1 / 2^L and level l by
    1 / 2^(L - l + 1). Both are 1 for a picture with itself.
    """
    parts = [_pyramid(*FEATURES[name](picture), centres, levels) for name, centres in words.items()]
    return np.concatenate(parts) / np.float32(len(words))


def level_weights(levels: int) -> list[float]:
    """Return what the intersections of each level count, the coarsest first."""
    finest = levels - 1
    return [2.0 ** -(finest if level == 0 else finest - level + 1) for level in range(levels)]


def _clustered(points: Values, k: int, rng: np.random.Generator) -> Values:
    different = np.unique(points, axis=0)
    first = different[rng.permutation(len(different))[:k]]
    with warnings.catch_warnings():
        # A word that loses all its points stays where it is, and is as good a word as before.
        warnings.simplefilter("ignore", UserWarning)
        centres: Values = kmeans2(points, first, iter=ROUNDS, minit="matrix")[0]
    return centres


def _pyramid(values: Values, places: Values, centres: Values, levels: int) -> NDArray[np.float32]:
    word = _nearest(values, centres)
    parts = []
    for level, weight in enumerate(level_weights(levels)):
        rows, columns = (places * 2**level).astype(np.int64).T
        cell = rows * 2**level + columns
        counts = np.bincount(cell * len(centres) + word, minlength=4**level * len(centres))
        parts.append(counts * (weight / len(word)))
    return np.concatenate(parts).astype(np.float32)


def _nearest(values: Values, centres: Values) -> NDArray[np.int64]:
    """Return the word of each point: the nearest centre, of equally near ones the first."""
    offsets = (centres**2).sum(axis=1) / 2
    blocks = (values[start : start + BLOCK] for start in range(0, len(values), BLOCK))
    return np.concatenate([np.argmax(block @ centres.T - offsets, axis=1) for block in blocks])
