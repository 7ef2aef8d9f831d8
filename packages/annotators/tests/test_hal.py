import numpy as np
import pytest
import torch

from counterpart_annotators.losses import hubness_aware, log_sum_exp, named_loss, reweighted, triplet_sum
from gradients import check_on_embeddings
from slow_losses import slow_loss

RNG = np.random.default_rng(0)
SEVEN = RNG.uniform(-1, 1, (7, 7))
SEVEN[RNG.random((7, 7)) < 0.2] = -np.inf
np.fill_diagonal(SEVEN, RNG.uniform(0, 1, 7))


def slow_reweighted(similarity: np.ndarray, k: int) -> np.ndarray:
    """Eq. 4, entry by entry."""
    scaled = np.empty_like(similarity)
    for i, t in np.ndindex(similarity.shape):
        captions = sorted(s for place, s in enumerate(similarity[i]) if place != i and s != -np.inf)
        images = sorted(s for place, s in enumerate(similarity[:, t]) if place != t and s != -np.inf)
        scaled[i, t] = similarity[i, t] * np.exp(np.mean(captions[-k:]) + np.mean(images[-k:]))
    return scaled


def slow_log_sum_exp(similarity: np.ndarray, scale: float, threshold: float) -> float:
    total = 0.0
    for b in range(len(similarity)):
        for line in (similarity[b], similarity[:, b]):
            others = [np.exp(scale * (s - threshold)) for place, s in enumerate(line) if place != b]
            total += np.log(1 + sum(others) + np.exp(-scale * threshold)) / scale
        total -= np.log(1 + max(0.0, similarity[b, b]))
    return total / len(similarity)


def test_a_pair_weighs_by_the_crowd_around_both_its_sides():
    similarity = torch.tensor([[0.9, 0.8], [0.1, 0.5]], dtype=torch.float64)
    wanted = [[0.9 * np.exp(0.8 + 0.1), 0.8 * np.exp(0.8 + 0.8)], [0.1 * np.exp(0.1 + 0.1), 0.5 * np.exp(0.1 + 0.8)]]
    np.testing.assert_allclose(reweighted(similarity, k=1), wanted)


@pytest.mark.parametrize("k", [1, 3, 99])
@pytest.mark.parametrize("base", ["sum", "max"])
def test_it_agrees_with_its_definition(k, base):
    wanted = slow_loss(slow_reweighted(SEVEN, k), base, 0.2)
    assert hubness_aware(torch.tensor(SEVEN), k, base=base).item() == pytest.approx(wanted)


def test_weights_do_not_learn():
    similarity = torch.tensor([[0.9, 0.8], [0.1, 0.5]], requires_grad=True)
    reweighted(similarity, k=1)[0, 1].backward()
    assert similarity.grad.flatten().tolist() == pytest.approx([0, np.exp(1.6), 0, 0])


def test_the_log_sum_exp_form_agrees_with_its_definition():
    similarity = np.abs(np.where(np.isinf(SEVEN), 0.1, SEVEN))
    wanted = slow_log_sum_exp(similarity, 30, 0.3)
    assert log_sum_exp(torch.tensor(similarity)).item() == pytest.approx(wanted)


@pytest.mark.parametrize(("settings", "k"), [({"neighbours": 1}, 1), ({}, 3)])
def test_the_number_of_neighbours_is_a_setting(settings, k):
    square = torch.tensor(SEVEN)
    assert named_loss("hal", settings)(square) == hubness_aware(square, k)
    assert named_loss("hal-max", settings)(square) == hubness_aware(square, k, base="max")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"base": "min"}, "no base 'min' in the form 'reweighted'"),
        ({"form": "other"}, "no base 'sum' in the form 'other'"),
        ({"k": 0}, "at least 1 neighbour"),
    ],
)
def test_what_it_does_not_know_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        hubness_aware(torch.eye(3), **arguments)


@pytest.mark.shared
@pytest.mark.parametrize("k", [1, 3])
def test_eq_4_is_the_paper_s(numbers, k):
    fixture = numbers("hubs_paper")
    similarity = torch.tensor(fixture["batch_similarity"])
    np.testing.assert_allclose(reweighted(similarity, k), fixture[f"reweighted_k{k}"], atol=1e-9)
    for base in ("sum", "max"):
        assert hubness_aware(similarity, k, base=base).item() == pytest.approx(float(fixture[f"loss_hal_{base}_k{k}"]))
    assert triplet_sum(similarity).item() == pytest.approx(float(fixture["loss_sum"]))


@pytest.mark.shared
@pytest.mark.parametrize(("key", "how"), [("hal_local", (30, 0.3)), ("hal_local_f30k", (60, 0.7))])
def test_the_published_code_s_local_loss_and_gradients(numbers, key, how):
    check_on_embeddings(numbers("losses"), key, lambda similarity: log_sum_exp(similarity, *how))
