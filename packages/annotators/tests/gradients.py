"""Compare a loss and its gradients with numbers that the authors' code computed."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import torch
from torch import Tensor

RELATIVE = 1e-4


def leaf(array: np.ndarray) -> Tensor:
    """A tensor that gathers a gradient."""
    return torch.tensor(array).requires_grad_()


def check_gradients(loss: Tensor, wanted: Mapping[str, tuple[Tensor, np.ndarray]]) -> None:
    """Compare the loss's gradients, relative to the largest entry of each."""
    loss.backward()
    for name, (tensor, gradient) in wanted.items():
        np.testing.assert_allclose(tensor.grad, gradient, atol=RELATIVE * np.abs(gradient).max(), err_msg=name)


def check_on_embeddings(fixture: Mapping[str, np.ndarray], key: str, loss: Callable[[Tensor], Tensor]) -> None:
    """Compare a loss on the inner products of a fixture's embeddings, and both gradients."""
    images, captions = leaf(fixture["image_embedding"]), leaf(fixture["text_embedding"])
    value = loss(images @ captions.T)
    assert value.item() == pytest.approx(float(fixture[f"loss_{key}"]), rel=RELATIVE)
    gradients = {"images": (images, fixture[f"grad_image_{key}"]), "captions": (captions, fixture[f"grad_text_{key}"])}
    check_gradients(value, gradients)
