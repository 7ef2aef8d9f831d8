"""What holds for every loss over a batch's similarities."""

import doctest

import pytest
import torch

from counterpart_annotators import losses
from counterpart_annotators.losses import LOSSES, contrastive, sigmoid_contrastive
from counterpart_annotators.training.schedule import RANKING_LOSSES

ALL = {**LOSSES, "contrastive": contrastive, "sigmoid": sigmoid_contrastive}
THREE = torch.tensor([[0.5, 0.6, 0.4], [0.2, 0.7, 0.6], [0.1, 0.2, 0.9]], dtype=torch.float64)
LEFT_OUT = torch.tensor([[False, True, False], [False] * 3, [False] * 3])


@pytest.mark.parametrize("name", ALL)
def test_what_is_left_out_has_no_gradient(name):
    similarity = THREE.clone().requires_grad_()
    ALL[name](similarity.masked_fill(LEFT_OUT, -torch.inf)).backward()
    assert similarity.grad.isfinite().all()
    assert similarity.grad[0, 1] == 0


@pytest.mark.parametrize("name", ALL)
def test_what_is_left_out_does_not_count(name):
    values = [
        ALL[name](THREE.masked_fill(LEFT_OUT, value).masked_fill(LEFT_OUT, -torch.inf)).item() for value in (0.0, 0.9)
    ]
    assert values[0] == values[1] != ALL[name](THREE).item()


@pytest.mark.parametrize("name", ALL)
def test_a_batch_of_which_all_negatives_are_left_out_still_has_a_loss(name):
    alone = torch.full((2, 2), -torch.inf).fill_diagonal_(0.5).requires_grad_()
    loss = ALL[name](alone)
    loss.backward()
    assert loss.isfinite()
    assert alone.grad.diagonal().isfinite().all()


@pytest.mark.parametrize("name", ALL)
def test_images_and_captions_may_change_sides(name):
    assert ALL[name](THREE).item() == pytest.approx(ALL[name](THREE.T).item())


@pytest.mark.parametrize("name", ALL)
def test_a_batch_that_is_not_square_is_refused(name):
    with pytest.raises(ValueError, match=r"not of shape \(2, 3\)"):
        ALL[name](torch.zeros(2, 3))


def test_the_names_in_options_are_those_of_the_losses():
    assert tuple(LOSSES) == RANKING_LOSSES


def test_the_examples_in_the_docstrings_are_true():
    assert doctest.testmod(losses).failed == 0
