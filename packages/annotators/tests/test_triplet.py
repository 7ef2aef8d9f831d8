import numpy as np
import pytest
import torch

from counterpart_annotators.losses import triplet_max, triplet_semi_hard, triplet_sum
from gradients import check_on_embeddings
from slow_losses import slow_loss

# Rows and columns have their positives on the diagonal. Worked by hand in the tests below.
THREE = torch.tensor([[0.5, 0.6, 0.4], [0.2, 0.7, 0.6], [0.1, 0.2, 0.9]], dtype=torch.float64)
HINGES = {"sum": triplet_sum, "max": triplet_max, "semi-hard": triplet_semi_hard}


def test_sum_counts_every_negative_in_both_directions():
    # Rows: .3 + .1, then .1; columns: .3 + .1 (0.6 against 0.7) from the middle one only.
    assert triplet_sum(THREE).item() == pytest.approx(0.3 + 0.1 + 0.1 + 0.1)


def test_max_counts_the_hardest_negative_of_each_query():
    assert triplet_max(THREE).item() == pytest.approx(0.3 + 0.1 + 0.1)


def test_semi_hard_counts_the_largest_negative_below_the_positive():
    # Row 0 passes over 0.6, which is above its positive, and counts 0.4.
    assert triplet_semi_hard(THREE).item() == pytest.approx(0.1 + 0.1 + 0.1)


@pytest.mark.parametrize("name", HINGES)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_losses_agree_with_their_definitions(name, size):
    rng = np.random.default_rng(size)
    similarity = rng.uniform(-1, 1, (size, size))
    similarity[rng.random((size, size)) < 0.2] = -np.inf
    np.fill_diagonal(similarity, rng.uniform(-1, 1, size))
    assert HINGES[name](torch.tensor(similarity)).item() == pytest.approx(slow_loss(similarity, name, 0.2))


@pytest.mark.shared
@pytest.mark.parametrize("fixture", ["losses", "vse0.io", "vsepp.io", "vsrn_coco.io", "vsrn_f30k.io"])
@pytest.mark.parametrize("name", ["sum", "max"])
def test_hinges_and_their_gradients_are_the_published_code_s(numbers, fixture, name):
    arrays = numbers(fixture)
    # One file leaves the word "loss" out of its gradients' names.
    renamed = {key.replace("_loss_", "_"): array for key, array in arrays.items() if key.startswith("grad_")}
    check_on_embeddings(arrays | renamed, name, HINGES[name])


@pytest.mark.shared
def test_semi_hard_is_the_specification_s(numbers):
    fixture = numbers("losses")
    loss = triplet_semi_hard(torch.tensor(fixture["similarity"])).item()
    assert loss == pytest.approx(float(fixture["loss_semihard_own_definition"]), rel=1e-6)
