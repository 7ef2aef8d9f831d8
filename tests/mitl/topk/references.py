"""The slow reference of a search: the whole float64 product, sorted."""

import numpy as np


def slow_topk(scores: np.ndarray, k: int) -> np.ndarray:
    """Each row's k best columns, by falling score, then by rising index."""
    return np.array([sorted(range(len(row)), key=lambda j: (-row[j], j))[:k] for row in scores])


def slow_product(images, captions) -> np.ndarray:
    """The float64 product, every score added up in the same order: a matrix product's ends may take another one."""
    return (np.asarray(images, np.float64)[:, None] * np.asarray(captions, np.float64)).sum(axis=2)


def assert_best(found, images, captions, k):
    """Hold a search to the whole float64 product, sorted."""
    scores = slow_product(images, captions)
    np.testing.assert_array_equal(found.i2t_indices, slow_topk(scores, k))
    np.testing.assert_array_equal(found.t2i_indices, slow_topk(scores.T, k))
    np.testing.assert_allclose(
        found.i2t_scores, np.take_along_axis(scores, found.i2t_indices, 1), rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(
        found.t2i_scores, np.take_along_axis(scores.T, found.t2i_indices, 1), rtol=1e-12, atol=1e-15
    )
