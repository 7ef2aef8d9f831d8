"""One number for each pair of an image and a caption, by which arrays of pairs are compared and joined."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ids = NDArray[np.int64]
Pair = tuple[int, int]
NO_PAIRS = np.zeros(0, np.int64)


def pair_codes(images: ArrayLike, captions: ArrayLike) -> Ids:
    """Return one number for each pair of ids of image and caption, by which pairs are compared."""
    return np.asarray(np.asarray(images, np.int64) << 32 | np.asarray(captions, np.int64))


def codes_of(pairs: Iterable[Pair]) -> Ids:
    """Return the code of each of the pairs of ids.

    >>> pairs_of(codes_of([(7, 3), (2, 9)]))
    [(7, 3), (2, 9)]
    """
    return pair_codes(*np.array(list(pairs), np.int64).reshape(-1, 2).T)


def ids_in(codes: Ids) -> tuple[Ids, Ids]:
    """Return the ids of the images and of the captions in ``pair_codes``."""
    return codes >> 32, codes & 0xFFFFFFFF


def pairs_of(codes: Ids) -> list[Pair]:
    """Return the ids of image and caption in each of the ``pair_codes``."""
    images, captions = ids_in(codes)
    return list(zip(images.tolist(), captions.tolist(), strict=True))
