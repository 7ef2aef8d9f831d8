import numpy as np
import pytest
from scipy.special import expit

from counterpart_statistics.aggregation.glad import glad
from counterpart_statistics.aggregation.sorted_votes import read_votes
from crowds import LEVELS, draw_crowd

pytestmark = pytest.mark.slow


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


def test_controls_are_left_out():
    labels, _ = draw_crowd([0.9, 0.8, 0.3], items=20)
    candidates = labels[labels["item"] >= 10]
    with_gold = glad(read_votes(labels, gold={item: (1, 2) for item in range(10)})).distribution[10:]
    assert np.allclose(with_gold, glad(read_votes(candidates)).distribution, atol=1e-3)
