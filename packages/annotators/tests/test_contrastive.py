import numpy as np
import pytest
import torch

from counterpart_annotators.losses import contrastive, matching, sigmoid_contrastive

TWO = torch.tensor([[0.9, 0.8], [0.1, 0.5]], dtype=torch.float64)


def test_info_nce_worked_by_hand():
    rows = np.log(1 + np.exp(2 * -0.1)) + np.log(1 + np.exp(2 * -0.4))
    columns = np.log(1 + np.exp(2 * -0.8)) + np.log(1 + np.exp(2 * 0.3))
    assert contrastive(TWO, scale=2.0).item() == pytest.approx((rows / 2 + columns / 2) / 2)


def test_the_sigmoid_loss_worked_by_hand():
    logits = 2 * TWO.numpy() - 1
    losses = np.log(1 + np.exp([[-logits[0, 0], logits[0, 1]], [logits[1, 0], -logits[1, 1]]]))
    assert sigmoid_contrastive(TWO, scale=2.0, bias=-1.0).item() == pytest.approx(losses.sum() / 2)


def test_matching_worked_by_hand():
    logits = torch.tensor([[1.0, 0.0, 2.0], [3.0, -torch.inf, 3.0]], dtype=torch.float64)
    first = np.log(np.exp(1) + 1 + np.exp(2)) - 1
    assert matching(logits).item() == pytest.approx((first + np.log(2)) / 2)


@pytest.mark.parametrize("loss", [contrastive, sigmoid_contrastive])
def test_the_temperature_learns_although_pairs_are_left_out(loss):
    scale = torch.tensor(2.0, requires_grad=True)
    loss(TWO.masked_fill(torch.tensor([[False, True], [False, False]]), -torch.inf), scale).backward()
    assert scale.grad.isfinite()
    assert scale.grad != 0
