"""Pictures as histograms of visual words, over the whole or over nested cells, for the intersection kernel.

Features at the points of a picture: colour, texture, and SIFT descriptors (section 3.3.1). A feature takes RGB (height,
width, 3) and returns values and their places: row and column as shares of the height and width, from 0 to below 1.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import cv2
import numpy as np
from numba import njit, prange
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

Picture = NDArray[np.uint8]
Values = NDArray[np.float32]
Signatures = NDArray[np.float32]
SIGMAS = 1.0, 3.0  # across and along an edge, in pixels: the finest scale of Varma and Zisserman's filters
ANGLES = 6
REACH = 8  # pixels from a filter's centre to its rim
STRIDE = 8  # pixels between SIFT descriptors
BIN = 4.0  # pixels of a side of each of their 4 x 4 cells
SIZE_OF_BIN = 2 / 3  # OpenCV's cells are 1.5 times a keypoint's size


def colour(picture: Picture) -> tuple[Values, Values]:
    """Return every pixel's CIELAB coordinates: values (n, 3) and places (n, 2)."""
    lab = np.asarray(cv2.cvtColor(picture.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), dtype=np.float32)
    return lab.reshape(-1, 3), _every_pixel(picture)


def texture(picture: Picture) -> tuple[Values, Values]:
    """Return the response of every pixel to an edge and a bar filter at six angles: values (n, 12)."""
    grey = _grey(picture).astype(np.float32) / 255
    responses = [cv2.filter2D(grey, cv2.CV_32F, bank, borderType=cv2.BORDER_REFLECT) for bank in _filters()]
    values = np.stack(responses, axis=2).reshape(-1, len(responses)).astype(np.float32)
    return values, _every_pixel(picture)


def sift(picture: Picture) -> tuple[Values, Values]:
    """Return upright SIFT descriptors of 16 x 16 pixels, every 8 pixels: values (n, 128), of length 1, or 0 in uniform
    areas.

    Sides shorter than the 16 pixels that a descriptor needs are stretched.
    """
    height, width = (max(side, 2 * STRIDE) for side in picture.shape[:2])
    grey = cv2.resize(_grey(picture), (width, height), interpolation=cv2.INTER_LINEAR)
    rows, columns = (np.arange(STRIDE, side - STRIDE + 1, STRIDE, dtype=np.float32) for side in (height, width))
    at = [cv2.KeyPoint(float(x), float(y), BIN * SIZE_OF_BIN, 0.0) for y in rows for x in columns]
    _, descriptors = cv2.SIFT.create().compute(grey, at)
    lengths = np.linalg.norm(descriptors, axis=1, keepdims=True)
    values = np.divide(descriptors, lengths, out=np.zeros_like(descriptors), where=lengths > 0)
    places = np.array([(y / height, x / width) for y in rows for x in columns], dtype=np.float32)
    return values, places


FEATURES: dict[str, Callable[[Picture], tuple[Values, Values]]] = {"colour": colour, "texture": texture, "sift": sift}


def _grey(picture: Picture) -> Any:
    return cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)


def _every_pixel(picture: Picture) -> Values:
    height, width = picture.shape[:2]
    rows, columns = np.mgrid[0:height, 0:width].astype(np.float32)
    return np.stack([rows.ravel() / height, columns.ravel() / width], axis=1)


@cache
def _filters() -> list[Values]:
    """Return first and second derivatives of an elongated Gaussian at each angle, of mean 0 and absolute sum 1."""
    y, x = np.mgrid[-REACH : REACH + 1, -REACH : REACH + 1].astype(np.float32)
    across_sigma, along_sigma = SIGMAS
    bank = []
    for angle in np.arange(ANGLES) * np.pi / ANGLES:
        across = np.cos(angle) * x + np.sin(angle) * y
        along = np.cos(angle) * y - np.sin(angle) * x
        bell = np.exp(-(across**2) / (2 * across_sigma**2) - along**2 / (2 * along_sigma**2))
        for derivative in (across * bell, (across**2 / across_sigma**2 - 1) * bell):
            centred = derivative - derivative.mean()
            bank.append((centred / np.abs(centred).sum()).astype(np.float32))
    return bank


WORDS = {"colour": 128, "texture": 256, "sift": 256}
PICTURES = 200  # that visual words are learned from
POINTS = 1000  # of each of these pictures
ROUNDS = 20  # of k-means
LEVELS = {"histogram": 1, "pyramid": 3}
BLOCK = 8192  # points that are assigned to words at a time

Words = Mapping[str, Values]


def learn_words(pictures: Iterable[Picture], sizes: Mapping[str, int], seed: int) -> dict[str, Values]:
    """Cluster 1,000 points of each picture by k-means into visual words: a feature's name -> words (k, d).

    ``pictures`` should be ``PICTURES`` of the training set. If a feature has fewer different points than words are
    wanted, every point is a word.
    """
    rng = np.random.default_rng(seed)
    points: dict[str, list[Values]] = {name: [] for name in sizes}
    for picture in pictures:
        for name, parts in points.items():
            values, _ = FEATURES[name](picture)
            parts.append(values[rng.permutation(len(values))[:POINTS]])
    return {name: _clustered(np.concatenate(parts), sizes[name], rng) for name, parts in points.items()}


def signature(picture: Picture, words: Words, levels: int) -> NDArray[np.float32]:
    """Return a picture's histograms (D,); the intersection of two pictures' is the mean of their features' kernels.

    One level is the histogram kernel (section 3.3.1): the share of points of each word. More are the pyramid kernel
    (section 3.3.2): level l divides the picture into 2^l x 2^l cells, and a match first found at level l of L counts
    1 / 2^(L - l). As level l's intersections contain those of level l + 1, level 0 weighs 1 / 2^L and level l
    1 / 2^(L - l + 1). Both kernels are 1 for a picture with itself.
    """
    parts = [_pyramid(*FEATURES[name](picture), centres, levels) for name, centres in words.items()]
    return np.concatenate(parts) / np.float32(len(words))


def level_weights(levels: int) -> list[float]:
    """Return the weight of each level's intersections, the coarsest first."""
    finest = levels - 1
    return [2.0 ** -(finest if level == 0 else finest - level + 1) for level in range(levels)]


def _clustered(points: Values, k: int, rng: np.random.Generator) -> Values:
    different = np.unique(points, axis=0)
    first = different[rng.permutation(len(different))[:k]]
    with warnings.catch_warnings():
        # A word that loses all its points stays as it is, which is fine.
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
    """Return the word of each point: the nearest centre, the first of equally near ones."""
    offsets = (centres**2).sum(axis=1) / 2
    blocks = (values[start : start + BLOCK] for start in range(0, len(values), BLOCK))
    return np.concatenate([np.argmax(block @ centres.T - offsets, axis=1) for block in blocks])


@njit(cache=True, parallel=True, fastmath=True)
def _intersections(left: Signatures, right: Signatures) -> Signatures:
    sums = np.empty((len(left), len(right)), dtype=np.float32)
    for i in prange(len(left)):
        for j in range(len(right)):
            total = np.float32(0)
            for v in range(left.shape[1]):
                total += min(left[i, v], right[j, v])
            sums[i, j] = total
    return sums


def intersections(left: NDArray[np.float32], right: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the sum over v of min(left[i, v], right[j, v]) of every two rows, (n, m) (section 3.3.1)."""
    found: NDArray[np.float32] = _intersections(np.ascontiguousarray(left), np.ascontiguousarray(right))
    return found
