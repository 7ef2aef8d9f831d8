import numpy as np
import pytest
import torch

from counterpart_annotators.kinds.pvse.loss import Embedded, best_cosines, diversity, mmd, pvse_loss, ranking
from gradients import check_gradients, leaf

TWO = torch.tensor([[0.9, 0.85], [0.1, 0.5]], dtype=torch.float64)


def test_ranking_by_the_hardest_negatives_is_a_mean_over_the_batch():
    # Rows: 0.1 + 0.85 - 0.9; columns: 0.1 + 0.85 - 0.5.
    assert ranking(TWO).item() == pytest.approx((0.05 + 0.45) / 2)


def test_a_pair_scores_as_its_best_two_embeddings_do():
    images = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    captions = torch.tensor([[[0.6, 0.8], [0.8, 0.6]], [[-1.0, 0.0], [0.0, -1.0]]])
    assert best_cosines(images, captions).tolist() == [[pytest.approx(0.8), 0.0]]


def test_diversity_counts_the_cosines_between_an_item_s_residuals():
    residuals = torch.tensor([[[3.0, 0.0], [1.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]]])
    # One cosine of sqrt(1/2), which is twice in the Gram matrix; then none.
    assert diversity(residuals).item() == pytest.approx((np.sqrt(2 * 0.5) / 4 + 0) / 2)


def test_mmd_worked_by_hand():
    images, captions = torch.tensor([[0.0], [2.0]]), torch.tensor([[0.0], [1.0]])
    within = 4 + 2 * np.exp(-1) + 2 * np.exp(-0.5)
    across = 1 + np.exp(-0.5) + np.exp(-1) + np.exp(-0.5)
    assert mmd(images, captions).item() == pytest.approx((within - 2 * across) / 4)


def test_one_embedding_an_item_has_neither_diversity_nor_mmd():
    side = Embedded(torch.eye(3)[:, None], torch.ones(3, 1, 3))
    assert pvse_loss(side, side).item() == 0


def test_a_further_known_match_is_not_a_negative():
    side = Embedded(torch.ones(2, 1, 1), torch.ones(2, 1, 1))
    known = torch.tensor([[False, True], [True, False]])
    assert (pvse_loss(side, side).item(), pvse_loss(side, side, known=known).item()) == (pytest.approx(0.2), 0)


@pytest.mark.shared
@pytest.mark.parametrize("reading", ["legacy", "final"])
@pytest.mark.parametrize("k", [1, 2])
def test_the_loss_and_its_gradients_are_the_published_code_s(numbers, k, reading):
    fixture = {name: a[:, None] if k == 1 and a.ndim == 2 else a for name, a in numbers(f"pvse_k{k}.io").items()}
    key = f"{reading}_maxviolation_mean"
    images, captions = leaf(fixture["image_embedding"]), leaf(fixture[f"text_embedding_{reading}"])
    residuals = torch.tensor(fixture["image_residual"]), torch.tensor(fixture[f"text_residual_{reading}"])
    loss = pvse_loss(Embedded(images, residuals[0]), Embedded(captions, residuals[1]))
    assert loss.item() == pytest.approx(float(fixture[f"loss_total_{key}"]), rel=1e-4)
    sides = {"image": images, "text": captions}
    check_gradients(loss, {side: (tensor, fixture[f"grad_{side}_{key}"]) for side, tensor in sides.items()})
