import doctest

import numpy as np
import pytest
import torch

from mitl import losses
from mitl.losses import LOSSES, triplet_max, triplet_semi_hard, triplet_sum

# Rows and columns have their positives on the diagonal. Worked by hand in the tests below.
THREE = torch.tensor([[0.5, 0.6, 0.4], [0.2, 0.7, 0.6], [0.1, 0.2, 0.9]], dtype=torch.float64)


def slow_loss(similarity: np.ndarray, name: str, margin: float) -> float:
    """The definitions, query by query."""
    total = 0.0
    for matrix in (similarity, similarity.T):
        for query, row in enumerate(matrix):
            positive = row[query]
            negatives = [score for place, score in enumerate(row) if place != query and score != -np.inf]
            below = [score for score in negatives if score < positive]
            if name == "max":
                negatives = [max(negatives)] if negatives else []
            elif name == "semi-hard" and negatives:
                negatives = [max(below)] if below else [min(negatives)]
            total += sum(max(0.0, margin - positive + score) for score in negatives)
    return total


def test_sum_counts_every_negative_in_both_directions():
    # Rows: .3 + .1, then .1; columns: .3 + .1 (0.6 against 0.7) from the middle one only.
    assert triplet_sum(THREE).item() == pytest.approx(0.3 + 0.1 + 0.1 + 0.1)


def test_max_counts_the_hardest_negative_of_each_query():
    assert triplet_max(THREE).item() == pytest.approx(0.3 + 0.1 + 0.1)


def test_semi_hard_counts_the_largest_negative_below_the_positive():
    # Row 0 passes over 0.6, which is above its positive, and counts 0.4.
    assert triplet_semi_hard(THREE).item() == pytest.approx(0.1 + 0.1 + 0.1)


def test_semi_hard_counts_the_smallest_negative_where_none_is_below():
    above = torch.tensor([[0.1, 0.3, 0.2], [0.0, 0.9, 0.0], [0.0, 0.0, 0.9]])
    assert triplet_semi_hard(above).item() == pytest.approx(0.2 - 0.1 + 0.2 + 0.1)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_losses_agree_with_their_definitions(name, size):
    rng = np.random.default_rng(size)
    similarity = rng.uniform(-1, 1, (size, size))
    similarity[rng.random((size, size)) < 0.2] = -np.inf
    np.fill_diagonal(similarity, rng.uniform(-1, 1, size))
    assert LOSSES[name](torch.tensor(similarity)).item() == pytest.approx(slow_loss(similarity, name, 0.2))


@pytest.mark.parametrize("name", LOSSES)
def test_what_is_left_out_has_no_gradient(name):
    similarity = THREE.clone().requires_grad_()
    left_out = torch.tensor([[False, True, False], [False] * 3, [False] * 3])
    LOSSES[name](similarity.masked_fill(left_out, -torch.inf)).backward()
    assert similarity.grad.isfinite().all()
    assert similarity.grad[0, 1] == 0


@pytest.mark.parametrize("name", LOSSES)
def test_a_batch_that_is_not_square_is_refused(name):
    with pytest.raises(ValueError, match=r"square matrix, not of shape \(2, 3\)"):
        LOSSES[name](torch.zeros(2, 3))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("loss", "key"),
    [(triplet_sum, "loss_sum"), (triplet_max, "loss_max"), (triplet_semi_hard, "loss_semihard_own_definition")],
)
def test_losses_give_the_published_code_s_numbers(shared, loss, key):
    fixture = np.load(shared / "fixtures" / "annotators" / "losses.npz")
    assert loss(torch.tensor(fixture["similarity"])).item() == pytest.approx(float(fixture[key]), rel=1e-6)


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(losses).failed == 0
