import numpy as np
import pytest
import torch

from mitl.losses import hubness_aware, triplet_sum
from mitl.losses.hal import BankParameters, HubWeights, bank_weights, log_sum_exp, log_sum_exp_of_paper, reweighted
from tests.mitl.losses.gradients import check_on_embeddings
from tests.mitl.losses.test_triplet import slow_loss

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


def slow_log_sum_exp(similarity: np.ndarray, scale: float, threshold: float, *, as_code: bool) -> float:
    total = 0.0
    for b in range(len(similarity)):
        for line in (similarity[b], similarity[:, b]):
            others = [np.exp(scale * (s - threshold)) for place, s in enumerate(line) if place != b]
            total += np.log(1 + sum(others) + as_code * np.exp(-scale * threshold)) / scale
        own = max(0.0, similarity[b, b]) if as_code else similarity[b, b]
        total -= np.log(1 + own)
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


def test_a_batch_of_one_is_weighed_by_nobody():
    assert reweighted(torch.tensor([[0.5]]), k=3).item() == 0.5


def test_weights_do_not_learn():
    similarity = torch.tensor([[0.9, 0.8], [0.1, 0.5]], requires_grad=True)
    reweighted(similarity, k=1)[0, 1].backward()
    assert similarity.grad.flatten().tolist() == pytest.approx([0, np.exp(1.6), 0, 0])


@pytest.mark.parametrize("as_code", [True, False])
def test_the_log_sum_exp_form_agrees_with_its_definition(as_code):
    similarity = np.abs(np.where(np.isinf(SEVEN), 0.1, SEVEN))
    loss = log_sum_exp if as_code else log_sum_exp_of_paper
    wanted = slow_log_sum_exp(similarity, 30, 0.3, as_code=as_code)
    assert loss(torch.tensor(similarity)).item() == pytest.approx(wanted)


def test_the_form_is_chosen_by_name():
    similarity = torch.tensor(np.abs(np.where(np.isinf(SEVEN), 0.1, SEVEN)))
    assert hubness_aware(similarity, form="logsumexp") == log_sum_exp(similarity)


def test_what_a_bank_weighs_nothing_pushes_nothing():
    similarity = torch.tensor([[0.9, 0.8], [0.1, 0.5]], requires_grad=True)
    log_sum_exp(similarity, weights=HubWeights(torch.zeros(2, 2), torch.ones(2))).backward()
    assert similarity.grad.flatten().tolist() == pytest.approx([-1 / 1.9 / 2, 0, 0, -1 / 1.5 / 2])


def test_bank_weights_worked_by_hand():
    # One pair among two, k 1: the crowd around image 0 and caption 1 is exp(0.5) and exp(0.2), both times exp(-0.1).
    crowd = BankParameters(k=1, positive_scale=1, negative_scale=1)
    similarity = torch.tensor([[0.9, 0.8], [0.1, 0.5]], dtype=torch.float64)
    images, captions = torch.tensor([[0.5, 0.1], [0.3, 0.0]]), torch.tensor([[0.4, 0.4], [0.2, 0.1]])
    weights = bank_weights(similarity, images, captions, crowd)
    around = np.exp(0.5 - 0.1) + np.exp(0.2 - 0.1)
    assert weights.negatives[0, 1].item() == pytest.approx(around / (around + np.exp(0.9) + np.exp(0.5)))
    positive = np.exp(0.9 - 0.2)
    assert weights.positives[0].item() == pytest.approx(
        1 - positive / (positive + np.exp(0.5 - 0.2) + np.exp(0.4 - 0.2))
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"base": "min"}, "no base 'min' in the form 'reweighted'"),
        ({"form": "other"}, "no base 'sum' in the form 'other'"),
        ({"k": 0}, "HAL needs at least 1 neighbour, not 0"),
    ],
)
def test_what_it_does_not_know_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        hubness_aware(torch.eye(3), **arguments)


def test_a_bank_smaller_than_the_neighbourhood_is_refused():
    with pytest.raises(ValueError, match="bank of 1 has fewer than 2 neighbours"):
        bank_weights(torch.eye(2), torch.zeros(2, 1), torch.zeros(2, 1), BankParameters(k=2))


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


@pytest.mark.shared
@pytest.mark.parametrize(("key", "how"), [("", (30, 0.3)), ("_f30k", (60, 0.7))])
def test_the_published_paper_s_local_loss(numbers, key, how):
    fixture = numbers("losses")
    loss = log_sum_exp_of_paper(torch.tensor(fixture["similarity"]), *how).item()
    assert loss == pytest.approx(float(fixture[f"loss_hal_paper_local_unit_weights{key}"]), rel=1e-9)


def bank_of(fixture: dict[str, np.ndarray], k: int) -> HubWeights:
    outside = ~np.isin(fixture["bank_indices"], fixture["batch_indices"])
    images, captions = torch.tensor(fixture["image_embedding"]), torch.tensor(fixture["text_embedding"])
    bank = {side: torch.tensor(fixture[f"bank_{side}"][outside]) for side in ("image", "text")}
    return bank_weights(images @ captions.T, images @ bank["text"].T, captions @ bank["image"].T, BankParameters(k=k))


@pytest.mark.shared
@pytest.mark.parametrize(("key", "k"), [("hal_memory_bank", 8), ("hal_memory_bank_k_over_batch", 25)])
def test_the_published_code_s_loss_with_a_memory_bank(numbers, key, k):
    fixture = numbers("losses")
    weights = bank_of(fixture, k)
    check_on_embeddings(fixture, key, lambda similarity: log_sum_exp(similarity, weights=weights))


@pytest.mark.shared
def test_the_published_code_s_bank_weights(numbers):
    fixture = numbers("losses")
    weights = bank_of(fixture, 8)
    np.testing.assert_allclose(weights.negatives, fixture["memory_bank_negative_weights"], atol=1e-5)
    np.testing.assert_allclose(weights.positives, fixture["memory_bank_positive_weights"], atol=1e-5)
