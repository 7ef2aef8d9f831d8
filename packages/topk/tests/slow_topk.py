"""The slow reference of a search: the whole float64 product, sorted."""

from collections.abc import Callable
from functools import cache

import numpy as np


def slow_topk(scores: np.ndarray, k: int) -> np.ndarray:
    """Each row's k best columns, by falling score, then by rising index."""
    return np.array([sorted(range(len(row)), key=lambda j: (-row[j], j))[:k] for row in scores])


def slow_product(images, captions) -> np.ndarray:
    """The float64 product, every score added up in the same order: a matrix product's ends may take another one."""
    return (np.asarray(images, np.float64)[:, None] * np.asarray(captions, np.float64)).sum(axis=2)


class Reference:
    """The whole float64 product of two sides and its lists, sorted once for all searches that are held to it."""

    def __init__(self, images, captions, k: int) -> None:
        self.images, self.captions, self.k = images, captions, k
        self._scores = slow_product(images, captions)
        self.i2t, self.t2i = slow_topk(self._scores, k), slow_topk(self._scores.T, k)

    def hold(self, found) -> None:
        """Fail where a search found anything else."""
        np.testing.assert_array_equal(found.i2t_indices, self.i2t)
        np.testing.assert_array_equal(found.t2i_indices, self.t2i)
        for scores, indices, expected in (
            (found.i2t_scores, self.i2t, self._scores),
            (found.t2i_scores, self.t2i, self._scores.T),
        ):
            np.testing.assert_allclose(scores, np.take_along_axis(expected, indices, 1), rtol=1e-12, atol=1e-15)


@cache
def reference(make: Callable, k: int) -> Reference:
    """The reference of a hard input, which many searches share."""
    return Reference(*make(np.random.default_rng(5)), k)


def assert_best(found, images, captions, k):
    """Hold a search to the whole float64 product, sorted."""
    Reference(images, captions, k).hold(found)
