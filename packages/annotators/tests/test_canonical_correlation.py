"""KCCA against the dense eigenproblem of section 3.2.1, and what the factorisation promises."""

import numpy as np
import pytest
from scipy import linalg

from counterpart_annotators.kinds.kcca.canonical_correlation import Projection, correlate, factorise, features_of
from counterpart_metrics.errors import CounterpartError


def kernel_of(n: int, dim: int, seed: int) -> np.ndarray:
    """A random kernel with ones on its diagonal."""
    rows = np.random.default_rng(seed).standard_normal((n, dim))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


def centred(kernel: np.ndarray) -> np.ndarray:
    centring = np.eye(len(kernel)) - 1 / len(kernel)
    return centring @ kernel @ centring


def factor_of(kernel: np.ndarray, rank: int):
    return factorise(lambda pivot: kernel[:, pivot], len(kernel), rank)


def first(projection: Projection, dim: int = 3) -> Projection:
    return Projection(projection.mean, projection.directions[:, :dim])


def test_all_pivots_give_the_kernel_back():
    kernel = kernel_of(12, 20, 0)
    factor = factor_of(kernel, 12)
    assert np.allclose(factor.features @ factor.features.T, kernel, atol=1e-6)
    assert np.allclose(np.triu(factor.triangle, 1), 0)


def test_a_kernel_of_low_rank_needs_no_more_pivots_than_its_rank():
    kernel = kernel_of(30, 4, 1)
    factor = factor_of(kernel, 30)
    assert len(factor.pivots) == 4
    assert np.allclose(factor.features @ factor.features.T, kernel, atol=1e-6)


def test_the_next_pivot_is_what_the_others_explain_least():
    kernel = np.array([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]])
    assert factor_of(kernel, 3).pivots.tolist() == [0, 2, 1]


def test_further_items_get_the_features_that_they_would_have_had():
    kernel = kernel_of(15, 6, 2)
    factor = factor_of(kernel[:10, :10], 10)
    features = features_of(kernel[10:][:, factor.pivots], factor.triangle)
    assert np.allclose(features @ factor.features.T, kernel[10:, :10], atol=1e-6)


@pytest.mark.parametrize("kappa", [0.1, 1.0])
def test_correlations_and_cosines_are_those_of_the_dense_eigenproblem(kappa):
    n = 14
    kernels = kernel_of(n, 30, 3), 0.5 * kernel_of(n, 30, 3) + 0.5 * kernel_of(n, 30, 4)
    factors = [factor_of(kernel, n).features for kernel in kernels]
    images, texts, correlations = correlate(*factors, kappa)
    x, y = map(centred, kernels)
    solve_x, solve_y = (linalg.inv(kernel + kappa * np.eye(n)) for kernel in (x, y))
    squares, alphas = linalg.eig(solve_x @ y @ solve_y @ x)
    order = np.argsort(-squares.real)[:3]
    assert np.allclose(correlations[:3] ** 2, squares.real[order], atol=1e-8)
    alpha = alphas[:, order].real
    beta = solve_y @ x @ alpha / np.sqrt(squares.real[order])
    # Both are up to the scale of a direction: (alpha' Kx (Kx + kappa) alpha) is 1 for ours.
    norms = np.sqrt(np.einsum("id,ij,jd->d", alpha, x @ (x + kappa * np.eye(n)), alpha))
    left, right = x @ alpha / norms, y @ beta / norms
    left, right = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (left, right))
    cosines = first(images).of(factors[0]) @ first(texts).of(factors[1]).T
    assert np.allclose(cosines, left @ right.T, atol=1e-4)


def test_one_pair_correlates_with_nothing():
    with pytest.raises(CounterpartError, match="at least 2 pairs .* not 1"):
        correlate(np.ones((1, 2)), np.ones((1, 2)), 0.1)
