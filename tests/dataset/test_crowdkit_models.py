import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from dataset.aggregation.crowdkit_models import glad, mace
from dataset.aggregation.votes import read_votes
from tests.dataset.crowds import LEVELS, draw_crowd

pytestmark = pytest.mark.slow


def test_mace_finds_the_competence_of_every_worker():
    """A worker who guesses among four levels when not competent is right by chance in a quarter of those cases."""
    labels, _ = draw_crowd([0.9, 0.75, 0.5, 0.25], items=400)
    competence = mace(read_votes(labels)).skills["competence"].sort_index()
    assert competence.tolist() == pytest.approx([(a - 0.25) / 0.75 for a in (0.9, 0.75, 0.5, 0.25)], abs=0.1)


def test_mace_follows_its_seed():
    labels = pd.DataFrame([(0, 0, 1), (0, 1, 4), (1, 0, 1), (1, 1, 2)], columns=["item", "worker", "label"])
    first, again, other = (mace(read_votes(labels), seed=seed).distribution for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_glad_equals_crowd_kits_own_answer_and_orders_workers_by_ability():
    from crowdkit.aggregation import GLAD

    labels, _ = draw_crowd([0.95, 0.7, 0.4], items=20)
    model = GLAD()
    theirs = model.fit_predict_proba(labels.rename(columns={"item": "task"}))
    ours = glad(read_votes(labels))
    assert np.allclose(ours.distribution, theirs[list(LEVELS)], atol=0.02)
    ability = ours.skills["ability"].sort_index()
    assert np.allclose(ability, expit(model.alphas_ * np.e).sort_index(), atol=0.02)
    assert ability.is_monotonic_decreasing


def test_levels_that_nobody_chose_have_no_share_by_mace():
    labels = pd.DataFrame([(0, 0, 1), (0, 1, 1), (1, 0, 4)], columns=["item", "worker", "label"])
    assert mace(read_votes(labels)).distribution[:, 1:3].tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(("method", "within"), [(mace, 0.1), (glad, 1e-3)])
def test_controls_are_left_out(method, within):
    """Within the effect of another random start, for mace."""
    labels, _ = draw_crowd([0.9, 0.8, 0.3], items=20)
    candidates = labels[labels["item"] >= 10]
    with_gold = method(read_votes(labels, gold={item: (1, 2) for item in range(10)})).distribution[10:]
    assert np.allclose(with_gold, method(read_votes(candidates)).distribution, atol=within)


def test_mace_names_items_with_more_votes_than_it_can_multiply():
    labels = pd.DataFrame({"item": 0, "worker": range(1_500), "label": [1, 2, 3] * 500})
    with pytest.raises(ValueError, match="vanish on items of 1,500 votes. Use another method"):
        mace(read_votes(labels))
