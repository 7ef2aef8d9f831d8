"""Probabilities of matches: learned from other queries alone, and the effect that a query's pairs share."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from counterpart_statistics.estimation import (
    folds_of,
    given_item_labels,
    given_labels,
    match_probability,
    pair_features,
    query_effect,
)
from counterpart_statistics.estimation.probabilities import shift_logits


@pytest.fixture
def rng():
    return np.random.default_rng(2)


def test_queries_of_one_image_share_a_fold():
    groups = np.repeat(np.arange(40), 5)
    folds = folds_of(groups, seed=1)
    assert (folds.reshape(40, 5) == folds.reshape(40, 5)[:, :1]).all()
    assert np.bincount(folds).tolist() == [40] * 5


def test_no_label_of_a_group_touches_the_probabilities_of_its_own_queries(rng):
    """T9: neither the query's own labels nor those of other captions of its image."""
    features = rng.standard_normal((60, 6, 3))
    labels = (rng.random((60, 6)) < 0.4).astype(float)
    folds = folds_of(np.repeat(np.arange(20), 3), seed=0)
    before = match_probability(features, labels, folds)
    own = folds == folds[0]
    labels[own] = 1 - labels[own]
    after = match_probability(features, labels, folds)
    np.testing.assert_array_equal(before[own], after[own])
    assert (before[~own] != after[~own]).any()


def test_the_probability_is_that_of_a_logistic_regression_on_the_other_folds(rng):
    features = rng.standard_normal((50, 4, 2))
    labels = (features[..., 0] + rng.standard_normal((50, 4)) > 0).astype(float)
    labels[rng.random((50, 4)) < 0.3] = np.nan
    folds = folds_of(np.arange(50))
    found = match_probability(features, labels, folds)
    train = ~np.isnan(labels) & (folds != 2)[:, None]
    scaler = StandardScaler().fit(features[train])
    model = LogisticRegression(C=0.3, max_iter=500).fit(scaler.transform(features[train]), labels[train])
    expected = model.predict_proba(scaler.transform(features[folds == 2].reshape(-1, 2)))[:, 1]
    np.testing.assert_allclose(found[folds == 2].ravel(), expected, atol=1e-9)


def test_probabilities_are_clipped_and_few_labels_give_their_mean():
    features = np.zeros((4, 5, 2))
    labels = np.full((4, 5), np.nan)
    assert (match_probability(features, labels, [0, 0, 1, 1]) == 0.5).all()
    labels[:2, :2] = [[1, 0], [0, 0]]
    found = match_probability(features, labels, [0, 0, 1, 1])
    assert found[2, 0] == 0.25
    labels[:2] = 0
    assert match_probability(features, labels, [0, 0, 1, 1])[3, 0] == 0.002


def test_features_hold_ranks_standardised_scores_and_their_summary():
    ranks = np.array([[[1, 6, 10**6]], [[2, 30, 3]]])
    scores = np.array([[[3.0, 1.0, np.nan]], [[2.0, np.nan, 1.0]]])
    found = pair_features(ranks, scores, 25)
    np.testing.assert_allclose(found[0, :, 0], np.log([1, 6, 26]))
    np.testing.assert_allclose(found[0, :, 2], [1, -1, -1])
    np.testing.assert_allclose(found[0, 0, 4:8], [0, np.log(2) / 2, 2, 2])
    np.testing.assert_allclose(found[0, 1, 4:8], [np.log(6), (np.log(6) + np.log(26)) / 2, 0, 1])


def test_features_hold_the_scores_as_they_are_and_the_lowest_of_all_where_a_list_lacks_the_item():
    ranks = np.array([[[1, 2], [1, 10**6]], [[10**6, 10**6], [10**6, 10**6]]])
    scores = np.array([[[3.0, 1.0], [0.5, np.nan]], [[np.nan, np.nan], [np.nan, np.nan]]])
    found = pair_features(ranks, scores, 25)
    np.testing.assert_array_equal(found[..., -2], [[3, 1], [0.5, 0.5]])
    np.testing.assert_array_equal(found[..., -1], np.zeros((2, 2)))


def test_a_shift_that_queries_share_is_recovered_from_their_labels(rng):
    p = rng.uniform(0.1, 0.6, (4000, 12))
    for tau in (0.0, 1.2):
        shifted = shift_logits(p, tau, tau * rng.standard_normal((4000, 1)))
        labels = (rng.random(p.shape) < shifted).astype(float)
        assert query_effect(p, labels, np.ones(4000, bool)) == pytest.approx(tau, abs=0.15)


def test_without_an_audited_query_the_effect_is_zero():
    assert query_effect([[0.5]], [[1.0]], [False]) == 0


def test_pairs_without_a_label_do_not_enter_the_effect(rng):
    p = rng.uniform(0.2, 0.6, (500, 6))
    labels = (rng.random(p.shape) < p).astype(float)
    padded = np.concatenate([p, np.full((500, 4), 0.9)], axis=1)
    missing = np.concatenate([labels, np.full((500, 4), np.nan)], axis=1)
    audited = np.ones(500, bool)
    assert query_effect(padded, missing, audited) == pytest.approx(query_effect(p, labels, audited))


@pytest.mark.parametrize("tau", [0.3, 1.2])
def test_labels_of_a_query_show_the_shift_that_its_other_pairs_share(rng, tau):
    """An independent witness: the shift's density on a fine grid, by Bayes' rule pair by pair."""
    p = rng.uniform(0.05, 0.9, (2, 4))
    labels = np.array([[1, 1, 0, np.nan], [0, np.nan, np.nan, 0]])
    found = given_labels(p, labels, tau)
    grid = np.linspace(-8 * tau, 8 * tau, 8001)
    for query, pair in zip(*np.nonzero(np.isnan(labels)), strict=True):
        density = np.exp(-((grid / tau) ** 2) / 2)
        for other in np.flatnonzero(~np.isnan(labels[query])):
            chance = expit(logit(p[query, other]) * np.sqrt(1 + 0.346 * tau**2) + grid)
            density = density * (chance if labels[query, other] else 1 - chance)
        chance = expit(logit(p[query, pair]) * np.sqrt(1 + 0.346 * tau**2) + grid)
        assert found[query, pair] == pytest.approx((density * chance).sum() / density.sum(), abs=1e-4)
    assert found[0, 3] != pytest.approx(p[0, 3], abs=0.001)


def test_labels_of_a_query_change_neither_labelled_pairs_nor_other_queries_nor_any_without_an_effect(rng):
    p = rng.uniform(0.05, 0.9, (2, 3))
    labels = np.array([[1, np.nan, np.nan], [np.nan] * 3])
    found = given_labels(p, labels, 1.0)
    np.testing.assert_array_equal(found[1], p[1])
    assert found[0, 0] == p[0, 0]
    assert (found[0, 1:] > p[0, 1:]).all()
    np.testing.assert_allclose(given_labels(p, labels, 0.0), p)
    assert given_labels(np.zeros((0, 3)), np.zeros((0, 3)), 1.0).shape == (0, 3)


def test_labels_of_an_item_by_hand():
    """Item 7 is 1 match above its expectation, of variance 0.5; item 8 is 0.5 below, of variance 0.25. The variance of
    the shift is (1² - 0.5 + 0.5² - 0.25) / (0.5² + 0.25²) = 1.6, item 7 moves by 1.6 · 1 / (1 + 1.6 · 0.5) = 0.889 and
    item 8 by 1.6 · -0.5 / (1 + 1.6 · 0.25) = -0.571."""
    found = given_item_labels(np.full(7, 0.5), [1, 1, np.nan, 0, np.nan, np.nan, np.nan], [7, 7, 7, 8, 8, 9, 7])
    np.testing.assert_allclose(found, [0.5, 0.5, 0.7087, 0.5, 0.3609, 0.5, 0.7087], atol=1e-4)


def test_labels_of_items_as_a_slow_reference_says(rng):
    items = rng.integers(0, 40, 400)
    p = rng.uniform(0.05, 0.6, 400)
    labels = np.where(rng.random(400) < 0.4, rng.random(400) < expit(logit(p) + rng.normal(0, 1.5, 40)[items]), np.nan)
    labels[items < 4] = np.nan
    residuals = {}
    for chance, label, item in zip(p.tolist(), labels.tolist(), items.tolist(), strict=True):
        off, spread = residuals.get(item, (0.0, 0.0))
        if not np.isnan(label):
            residuals[item] = off + label - chance, spread + chance * (1 - chance)
    variance = sum(off**2 - spread for off, spread in residuals.values()) / sum(
        spread**2 for _, spread in residuals.values()
    )
    assert variance > 0.5
    expected = []
    for chance, label, item in zip(p.tolist(), labels.tolist(), items.tolist(), strict=True):
        off, spread = residuals.get(item, (0.0, 0.0))
        odds = chance / (1 - chance) * np.exp(off / (spread + 1 / variance))
        expected.append(odds / (1 + odds) if np.isnan(label) else chance)
    found = given_item_labels(p, labels, items)
    np.testing.assert_allclose(found, expected)
    np.testing.assert_array_equal(found[items < 4], p[items < 4])


def test_a_shift_that_items_share_makes_probabilities_better(rng):
    """The squared error of the other half of the pairs, and no change to speak of where items share nothing."""
    items = np.repeat(np.arange(500), 12)
    p = rng.uniform(0.1, 0.6, len(items))
    given = np.arange(len(items)) % 2 == 0
    for spread, least, most in ((1.2, 0.75, 0.92), (0.0, 0.98, 1.02)):
        labels = rng.random(len(p)) < expit(logit(p) + rng.normal(0, spread, 500)[items])
        found = given_item_labels(p, np.where(given, labels, np.nan), items)
        errors = [((one - labels)[~given] ** 2).mean() for one in (found, p)]
        assert least < errors[0] / errors[1] < most


def test_without_labels_items_change_nothing():
    p = [0.2, 0.7]
    np.testing.assert_array_equal(given_item_labels(p, [np.nan, np.nan], [1, 1]), p)
    assert given_item_labels([], [], []).shape == (0,)


def test_items_that_vary_less_than_chance_change_nothing():
    p = [0.5, 0.5, 0.5]
    np.testing.assert_array_equal(given_item_labels(p, [1, 0, np.nan], [1, 1, 1]), p)


@pytest.mark.parametrize(("p", "label"), [(0.002, 1), (0.998, 0), (1e-12, 1)])
def test_labels_of_an_item_against_all_expectation_leave_probabilities_between_0_and_1(p, label):
    """Without a bound, ten unexpected labels would move the logit by hundreds."""
    found = given_item_labels(np.full(11, p), [label] * 10 + [np.nan], np.ones(11))
    assert logit(found[-1]) - logit(p) == pytest.approx(3 if label else -3)
    assert 0 < found[-1] < 1
