import json

import numpy as np
import pytest
import torch

from counterpart_annotators.kinds.pcme.loss import (
    Regularisers,
    Sampled,
    divergence,
    pcme_loss,
    soft_contrastive,
    uniformity,
)
from gradients import check_gradients, leaf


def slow_contrastive(images: np.ndarray, captions: np.ndarray, shift: float, scale: float) -> float:
    """Each pair's probability of its answer, and its logarithm."""
    total = 0.0
    for i, t in np.ndindex(len(images), len(captions)):
        yes = [
            1 / (1 + np.exp(-2 * (shift - scale * np.sqrt(((z - w) ** 2).sum() + 1e-6))))
            for z in images[i]
            for w in captions[t]
        ]
        total -= np.log(np.mean(yes) if i == t else 1 - np.mean(yes))
    return 2 * total


def samples(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(4, 3, 5))


def contrastive(known: torch.Tensor | None = None) -> float:
    sides = torch.tensor(samples(1)), torch.tensor(samples(2))
    return soft_contrastive(*sides, torch.tensor(5.0), torch.tensor(2.0), known).item()


def test_the_contrastive_part_agrees_with_its_definition():
    assert contrastive() == pytest.approx(slow_contrastive(samples(1), samples(2), 5.0, 2.0))


def test_a_further_known_match_is_left_out():
    known = torch.zeros(4, 4, dtype=torch.bool)
    known[0, 2] = True
    one = slow_contrastive(samples(1)[[0]], samples(2)[[2]], 5.0, 2.0)
    # What counted as "no match" was the complement of the slow loss of the lone pair.
    assert contrastive(known) == pytest.approx(contrastive() + 2 * np.log(1 - np.exp(-one / 2)))


def test_the_divergence_of_standard_normals_with_mean_m_is_half_m_squared():
    side = Sampled(torch.full((2, 7, 3), 0.5), torch.zeros(2, 3))
    assert divergence(side).item() == pytest.approx(2 * 3 * 0.5 * 0.25)


def test_uniformity_worked_by_hand():
    rows = torch.tensor([[0.0], [1.0], [1.0]])
    assert uniformity(rows).item() == pytest.approx(np.log((2 * np.exp(-2) + 1) / 3))


def test_of_many_vectors_some_are_drawn_by_the_seed():
    rows = torch.tensor(np.random.default_rng(0).normal(size=(300, 2)))
    losses = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        losses.append(uniformity(rows).item())
    assert losses[0] == losses[1] != losses[2]


@pytest.mark.shared
@pytest.mark.parametrize("configuration", ["coco", "with_uniformity", "plain"])
def test_the_loss_and_its_gradients_are_the_published_code_s(numbers, shared, configuration):
    fixture = numbers("pcme.io")
    settings = json.loads((shared / "fixtures/annotators/pcme.json").read_text())["loss_configs"][configuration]
    leaves = {
        name: leaf(fixture[name]) for name in ("image_samples", "text_samples", "image_logsigma", "text_logsigma")
    }
    scalars = {name: leaf(np.float32(fixture[f"{configuration}_{name}"])) for name in ("shift", "negative_scale")}
    loss = pcme_loss(
        Sampled(leaves["image_samples"], leaves["image_logsigma"]),
        Sampled(leaves["text_samples"], leaves["text_logsigma"]),
        **scalars,
        weights=Regularisers(settings["vib_beta"], settings["uniform_lambda"]),
    )
    assert loss.item() == pytest.approx(float(fixture[f"{configuration}_loss"]), rel=1e-4)
    keys = {name: f"{configuration}_grad_{name}" for name in leaves | scalars}
    there = {
        name: (tensor, fixture[keys[name]]) for name, tensor in (leaves | scalars).items() if keys[name] in fixture
    }
    assert {"image_samples", "shift"} <= set(there)
    check_gradients(loss, there)
