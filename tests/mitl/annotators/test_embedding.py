import numpy as np
import pytest

from mitl.annotators.embedding.annotator import RIDGE, _ridge


@pytest.mark.parametrize("shape", [(5, 12), (12, 5)])
def test_the_regression_is_the_same_solved_on_either_side(shape):
    rng = np.random.default_rng(0)
    features, wanted = rng.normal(size=shape).astype(np.float32), rng.normal(size=(shape[0], 2)).astype(np.float32)
    gram = features.T @ features + RIDGE * shape[1] * np.eye(shape[1])
    np.testing.assert_allclose(_ridge(features, wanted), np.linalg.solve(gram, features.T @ wanted), atol=1e-5)
