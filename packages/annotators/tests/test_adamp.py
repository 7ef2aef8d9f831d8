"""AdamP against a step worked by hand and a slow reference."""

import numpy as np
import pytest
import torch
from torch import nn

from counterpart_annotators.training.adamp import AdamP


def stepped(weight, gradients, **how):
    parameter = nn.Parameter(torch.tensor(weight, dtype=torch.float64))
    optimiser = AdamP([parameter], **how)
    for gradient in gradients:
        parameter.grad = torch.tensor(gradient, dtype=torch.float64)
        optimiser.step()
    return parameter.detach().numpy()


def test_a_first_step_worked_by_hand():
    """The gradient (4, -3) is orthogonal to (3, 4). Adam's first step is its signs, (1, -1); without its part along
    (0.6, 0.8) it is (1.12, -0.84). The decay is a tenth: 1 - 0.1 x 0.5 x 0.1 = 0.995."""
    found = stepped([[3, 4]], [[[4, -3]]], lr=0.1, weight_decay=0.5)
    np.testing.assert_allclose(found, [[0.995 * 3 - 0.112, 0.995 * 4 + 0.084]], atol=1e-7)


def test_a_gradient_along_the_weight_is_a_step_of_adam():
    found = stepped([[3, 4]], [[[4, 3]]], lr=0.1, weight_decay=0.5)
    np.testing.assert_allclose(found, [[0.95 * 3 - 0.1, 0.95 * 4 - 0.1]], atol=1e-7)


def slow_adamp(weight, gradients, lr, weight_decay):
    """Algorithm 2 of the paper for three rows: each by itself, then all as one vector."""
    weight = weight.copy()
    m, v = np.zeros_like(weight), np.zeros_like(weight)
    for t, g in enumerate(gradients, 1):
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        p = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        for parts in ([0, 1, 2], [slice(None)]):
            cosines = [abs((weight[i] * g[i]).sum()) / np.linalg.norm(weight[i]) / np.linalg.norm(g[i]) for i in parts]
            if max(cosines) < 0.1 / np.sqrt(weight[parts[0]].size):
                for i in parts:
                    p[i] -= (p[i] * weight[i]).sum() / (weight[i] ** 2).sum() * weight[i]
                weight -= lr * weight_decay * 0.1 * weight
                break
        else:
            weight -= lr * weight_decay * weight
        weight -= lr * p
    return weight


def without_part_along(gradient, weight, axis):
    share = (gradient * weight).sum(axis, keepdims=True) / (weight**2).sum(axis, keepdims=True)
    return gradient - share * weight


@pytest.mark.parametrize("invariant", ["by channel", "as a whole", "not"])
def test_steps_agree_with_the_definition(invariant):
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(3, 4))
    gradients = rng.normal(size=(5, 3, 4)) + weight
    if invariant != "not":
        axis = 1 if invariant == "by channel" else (0, 1)
        gradients = np.array([without_part_along(gradient, weight, axis) for gradient in gradients])
    wanted = slow_adamp(weight, gradients, 1e-3, 0.1)
    np.testing.assert_allclose(stepped(weight, gradients, lr=1e-3, weight_decay=0.1), wanted, rtol=1e-6)


def test_vectors_are_stepped_as_by_adamw():
    rng = np.random.default_rng(1)
    weight, gradients = rng.normal(size=7), rng.normal(size=(4, 7))
    twin = nn.Parameter(torch.tensor(weight))
    adamw = torch.optim.AdamW([twin], lr=0.01, weight_decay=0.1)
    for gradient in gradients:
        twin.grad = torch.tensor(gradient)
        adamw.step()
    found = stepped(weight, gradients, lr=0.01, weight_decay=0.1)
    np.testing.assert_allclose(found, twin.detach().numpy(), rtol=1e-9)
