"""Probabilities of levels, learned from other queries alone, and the scores that say how far they hold."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from counterpart_statistics.estimation import calibration_of, folds_of, level_thresholds, match_probability
from counterpart_statistics.estimation.calibration import reliability

BY_HAND = np.array([[0.1, 0.5, 0.9], [0.0, 0.25, 0.5], [0.6, 0.75, 1.0], [0.0, 0.0, 0.0]])
LEVELS = np.array([2, 4, 1, 4])


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def judged(rng):
    """Features (Q, J, F), levels that follow the first of them, and the folds of three captions an image."""
    features = rng.standard_normal((90, 6, 3))
    levels = np.clip(np.round(2.6 - 0.8 * features[..., 0] + 0.5 * rng.standard_normal((90, 6))), 1, 4)
    return features, levels, folds_of(np.repeat(np.arange(30), 3), seed=0)


def drawn(rng, n=4000):
    """Probabilities of levels, and levels drawn by them."""
    levels = rng.dirichlet([0.6, 0.4, 0.5, 2.0], n)
    return np.cumsum(levels, axis=1)[:, :3], 1 + (rng.random((n, 1)) > np.cumsum(levels, axis=1)[:, :3]).sum(axis=1)


@pytest.mark.parametrize("threshold", [1, 2, 3])
def test_no_label_of_an_image_touches_the_levels_of_its_own_queries_at_any_threshold(judged, threshold):
    features, levels, folds = judged
    before = level_thresholds(features, levels, folds)[..., threshold - 1]
    own = folds == folds[0]
    levels[own] = 5 - levels[own]
    after = level_thresholds(features, levels, folds)[..., threshold - 1]
    np.testing.assert_array_equal(before[own], after[own])
    assert (before[~own] != after[~own]).any()


def test_the_probability_of_a_match_is_that_of_the_labels_at_level_1_or_2(judged):
    features, levels, folds = judged
    levels[:5] = np.nan
    labels = np.where(np.isnan(levels), np.nan, levels <= 2)
    found = level_thresholds(features, levels, folds)
    np.testing.assert_array_equal(found[..., 1], match_probability(features, labels, folds))


def test_thresholds_rise_and_are_moved_to_that_of_a_match(judged, rng):
    """Levels out of order, 1 or 4 and 2 or 3: fitted alone, the thresholds contradict each other."""
    features, _, folds = judged
    levels = np.where(features[..., 0] > 0, rng.choice([1, 4], (90, 6)), rng.choice([2, 3], (90, 6)))
    alone = [
        match_probability(features, np.where(np.isnan(levels), np.nan, levels <= threshold), folds)
        for threshold in (1, 2, 3)
    ]
    assert (np.diff(alone, axis=0) < 0).any()
    found = level_thresholds(features, levels, folds)
    np.testing.assert_array_equal(found[..., 0], np.minimum(alone[0], alone[1]))
    np.testing.assert_array_equal(found[..., 1], alone[1])
    np.testing.assert_array_equal(found[..., 2], np.maximum(alone[2], alone[1]))


def test_unchosen_levels_have_the_probability_of_their_neighbour(judged):
    features, levels, folds = judged
    found = level_thresholds(features, np.where(levels <= 2, 1, 4), folds)
    np.testing.assert_array_equal(found[..., 0], found[..., 1])
    np.testing.assert_array_equal(found[..., 2], found[..., 1])
    assert level_thresholds(features, levels, folds, thresholds=(1, 2)).shape == (90, 6, 2)


def test_a_case_worked_by_hand():
    found = calibration_of(BY_HAND, LEVELS)
    assert (found.pairs, found.matches) == (4, 0.5)
    assert found.briers == pytest.approx(((0.01 + 0.16) / 4, (0.25 + 0.0625 + 0.0625) / 4, (0.01 + 0.25) / 4))
    # Levels: (.1, .4, .4, .1), (0, .25, .25, .5), (.6, .15, .25, 0), (0, 0, 0, 1).
    squares = (0.01 + 0.36 + 0.16 + 0.01) + (0.0625 + 0.0625 + 0.25) + (0.16 + 0.0225 + 0.0625)
    assert found.level_brier == pytest.approx(squares / 4)
    assert found.skill == pytest.approx(1 - found.briers[1] / 0.25)
    assert found.level_skill == pytest.approx(1 - found.level_brier / (1 - 2 * 0.25**2 - 0.5**2))
    # Four bins of one pair each: .5 → 1, .25 → 0, .75 → 1, 0 → 0.
    assert found.error == pytest.approx((0.5 + 0.25 + 0.25 + 0) / 4)


def test_scores_and_bins_are_those_of_scikit_learn(rng):
    thresholds, levels = drawn(rng)
    found = calibration_of(thresholds, levels)
    for number in (1, 2, 3):
        assert found.briers[number - 1] == pytest.approx(brier_score_loss(levels <= number, thresholds[:, number - 1]))
    four = np.diff(thresholds, axis=1, prepend=0, append=1)
    assert found.level_brier == pytest.approx(brier_score_loss(levels, four, scale_by_half=False))
    observed, predicted = calibration_curve(levels <= 2, thresholds[:, 1], n_bins=10, strategy="quantile")
    np.testing.assert_allclose([one.predicted for one in found.bins], predicted)
    np.testing.assert_allclose([one.observed for one in found.bins], observed)
    assert [one.pairs for one in found.bins] == [400] * 10


def test_intervals_of_bins_are_wilsons(rng):
    thresholds, levels = drawn(rng)
    z = norm.ppf(0.975)
    for one in calibration_of(thresholds, levels).bins:
        p, n = one.observed, one.pairs
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        assert (one.low, one.high) == pytest.approx((centre - half, centre + half))


def test_levels_drawn_by_the_probabilities_are_calibrated_and_too_sure_ones_are_not(rng):
    thresholds, levels = drawn(rng)
    right = calibration_of(thresholds, levels)
    sure = calibration_of(np.round(thresholds), levels)
    assert right.error < 0.03 < 0.1 < sure.error
    assert right.skill > sure.skill
    assert right.level_skill > sure.level_skill
    assert np.mean([one.low <= one.predicted <= one.high for one in right.bins]) >= 0.8


def test_the_shares_of_the_levels_have_no_skill(rng):
    _, levels = drawn(rng)
    shares = np.cumsum(np.bincount(levels, minlength=5)[1:4]) / len(levels)
    found = calibration_of(np.tile(shares, (len(levels), 1)), levels)
    assert (found.skill, found.level_skill) == pytest.approx((0, 0), abs=1e-9)
    assert len(found.bins) == 1
    assert found.error == pytest.approx(0, abs=1e-9)


def test_where_all_pairs_are_alike_skill_is_undefined():
    found = calibration_of(np.full((3, 3), 0.1), [4, 4, 4])
    assert np.isnan([found.skill, found.level_skill]).all()
    assert found.briers[1] == pytest.approx(0.01)


def test_equal_probabilities_are_in_one_bin():
    """However their labels are ordered."""
    is_match = np.arange(40) < 10
    (low, high) = reliability(np.repeat([0.002, 0.7], [30, 10]), is_match)
    assert (low.pairs, low.observed, high.pairs, high.observed) == (30, 1 / 3, 10, 0)


def test_without_a_pair_there_is_nothing_to_compare():
    with pytest.raises(ValueError, match="at least one pair"):
        calibration_of(np.zeros((0, 3)), [])
