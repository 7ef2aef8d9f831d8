"""AdamP: Adam whose steps do not lengthen weights that only have a direction.

Heo, Chun, Oh, Han, Yun, Kim, Uh and Ha (2021), "AdamP: slowing down the slowdown for momentum optimizers on
scale-invariant weights", algorithm 2. A weight before a normalisation is scale-invariant: its gradient is orthogonal to
it, and any step makes it longer, which slows its turning. Where the gradient is found orthogonal, the part of the
step along the weight is left out. Without momentum after Nesterov, with decoupled weight decay as in AdamW.
"""

from collections.abc import Callable, Iterable
from math import sqrt
from typing import Any

import torch
from torch import Tensor

ORTHOGONAL = 0.1  # delta: cosines below delta / sqrt(numbers of a vector) count as orthogonal
DECAY_SHARE = 0.1  # of the weight decay that scale-invariant weights have
EPSILON = 1e-8


class AdamP(torch.optim.Optimizer):
    """AdamP over parameters or groups of them; vectors and scalars are stepped as by AdamW."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Make one step with the gradients of all parameters that have one."""
        loss = closure() if closure else None
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._update(weight, weight.grad, group)
        return loss

    def _update(self, weight: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        state = self.state[weight]
        if not state:
            state.update(step=torch.zeros(()), exp_avg=torch.zeros_like(weight), exp_avg_sq=torch.zeros_like(weight))
        first, second = group["betas"]
        state["step"] += 1
        done = int(state["step"])
        mean = state["exp_avg"].lerp_(gradient, 1 - first)
        square = state["exp_avg_sq"].mul_(second).addcmul_(gradient, gradient, value=1 - second)
        step = mean / ((square / (1 - second**done)).sqrt() + EPSILON)
        share = 1.0
        view = _invariant_view(weight, gradient)
        if view is not None:
            step = _across(weight.reshape(view), step.reshape(view)).view_as(weight)
            share = DECAY_SHARE
        weight.mul_(1 - group["lr"] * group["weight_decay"] * share)
        weight.sub_(step, alpha=group["lr"] / (1 - first**done))


def _invariant_view(weight: Tensor, gradient: Tensor) -> tuple[int, int] | None:
    """Return the shape in which every row of a weight is orthogonal to its gradient: by channels (the first axis), or
    the whole as one row. Return None for vectors and where no such shape exists."""
    if weight.ndim < 2:
        return None
    for rows in (len(weight), 1):
        view = (rows, weight.numel() // rows)
        cosine = torch.cosine_similarity(weight.reshape(view), gradient.reshape(view), dim=1, eps=EPSILON)
        if cosine.abs().max() < ORTHOGONAL / sqrt(view[1]):
            return view
    return None


def _across(weight: Tensor, step: Tensor) -> Tensor:
    """Return the part of each row of a step (R, N) that is orthogonal to the row of the weight."""
    along = weight / (weight.norm(dim=1, keepdim=True) + EPSILON)
    return step - along * (along * step).sum(1, keepdim=True)
