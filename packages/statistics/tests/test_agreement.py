import doctest
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score

from counterpart_metrics.figures import bootstrap_interval
from counterpart_statistics import agreement
from counterpart_statistics.agreement import (
    SCALES,
    alpha_interval,
    alpha_of_counts,
    cohen_kappa,
    kappa_interval,
    krippendorff_alpha,
    share_interval,
    specific_agreement,
    specific_intervals,
    value_counts,
)

NAN = float("nan")
RATINGS = st.tuples(st.integers(1, 12), st.integers(2, 5)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([1, 2, 3, 4, NAN]))
)
PAIRED = st.integers(1, 40).flatmap(lambda n: st.tuples(*[arrays(np.int8, n, elements=st.integers(1, 4))] * 2))
# Krippendorff's own example of four observers and twelve units ("Computing Krippendorff's Alpha-Reliability", part C).
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T


def test_the_documented_examples_hold():
    assert doctest.testmod(agreement).failed == 0


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_own_example(level, alpha):
    assert krippendorff_alpha(OBSERVERS, level=level) == pytest.approx(alpha, abs=5e-4)


@settings(max_examples=60)
@given(RATINGS, st.sampled_from(SCALES))
def test_alpha_agrees_with_the_package_krippendorff(ratings, level):
    found = krippendorff_alpha(ratings, level=level)
    counted = ratings[(~np.isnan(ratings)).sum(1) > 1]
    if len(np.unique(counted[~np.isnan(counted)])) < 2:
        assert np.isnan(found)  # the package raises, or divides 0 by 0
        return
    assert found == pytest.approx(krippendorff.alpha(ratings.T, level_of_measurement=level))


def test_alpha_needs_no_matrix_of_raters():
    units, raters = np.nonzero(~np.isnan(OBSERVERS))
    counts = value_counts(units, OBSERVERS[units, raters].astype(int) - 1, (12, 5))
    for level in SCALES:
        assert alpha_of_counts(counts, [1, 2, 3, 4, 5], level) == pytest.approx(krippendorff_alpha(OBSERVERS, level))


def test_an_unused_level_changes_nothing():
    counts = value_counts([0, 0, 1, 1, 2, 2], [0, 0, 3, 1, 0, 1], (3, 4))
    used = counts[:, [0, 1, 3]]
    for level in SCALES:
        assert alpha_of_counts(counts, [1, 2, 3, 4], level) == pytest.approx(alpha_of_counts(used, [1, 2, 4], level))


def test_alpha_is_one_where_all_agree_and_undefined_where_nothing_varies():
    assert krippendorff_alpha([[1, 1], [4, 4]]) == 1
    assert np.isnan(krippendorff_alpha([[2, 2], [2, 2]]))
    assert np.isnan(krippendorff_alpha([[1, NAN], [NAN, 2]]))
    assert np.isnan(krippendorff_alpha(np.empty((0, 3))))


def test_the_interval_of_alpha_is_that_of_resampled_units():
    rng = np.random.default_rng(0)
    ratings = np.clip(rng.integers(1, 5, (80, 1)) + rng.integers(-1, 2, (80, 3)), 1, 4).astype(float)
    counts = value_counts(np.repeat(range(80), 3), ratings.ravel().astype(int) - 1, (80, 4))
    slow = [krippendorff_alpha(ratings[rng.integers(80, size=80)], level="ordinal") for _ in range(2000)]
    low, high = alpha_interval(counts, [1, 2, 3, 4], "ordinal", samples=2000)
    assert (low, high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=0.015)
    assert low < krippendorff_alpha(ratings, level="ordinal") < high
    assert alpha_interval(counts, [1, 2, 3, 4], "ordinal", samples=2000) == (low, high)


def test_the_interval_of_alpha_covers_the_truth_at_its_rate_over_200_rounds():
    rng = np.random.default_rng(8)

    def round_of(units: int) -> np.ndarray:
        """Three raters who are right with a probability of 0.7, otherwise at any level."""
        truth = rng.integers(0, 4, (units, 1))
        given = np.where(rng.random((units, 3)) < 0.7, truth, rng.integers(0, 4, (units, 3)))
        return value_counts(np.repeat(range(units), 3), given.ravel(), (units, 4))

    true = alpha_of_counts(round_of(300_000), [1, 2, 3, 4], "interval")
    assert true == pytest.approx(0.49, abs=0.005)  # the product of two raters' reliabilities
    covered = 0
    for seed in range(200):
        low, high = alpha_interval(round_of(150), [1, 2, 3, 4], "interval", seed=seed)
        covered += low <= true <= high
    assert 181 <= covered <= 198  # 190 are expected; three standard deviations are 9


def test_kappa_by_hand():
    # 50 units: both yes 20, both no 15, only a 5, only b 10. p_o = 0.7, p_e = 0.5 x 0.6 + 0.5 x 0.4 = 0.5.
    a = [1] * 25 + [0] * 25
    b = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(a, b) == pytest.approx(0.4)


@settings(max_examples=60)
@given(PAIRED, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_agrees_with_scikit_learn(pair, weights):
    a, b = pair
    found = cohen_kappa(a, b, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cohen_kappa_score(a, b, weights=weights, labels=[1, 2, 3, 4])
    if min(len(set(a)), len(set(b))) == 1:  # scikit-learn says 0 where only one is constant
        expected = NAN
    assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_of_a_constant_rater_is_undefined_and_so_is_its_interval(weights):
    for a, b in (([1, 1, 1, 1], [1, 2, 1, 1]), ([1, 2, 2, 1], [2, 2, 2, 2])):
        assert np.isnan(cohen_kappa(a, b, weights))
        assert np.isnan(kappa_interval(a, b, weights, samples=50)).all()


def test_resamples_in_which_a_rater_is_constant_are_left_out_of_the_interval():
    a, b = [1] * 30 + [2], [1] * 30 + [2]
    assert kappa_interval(a, b) == (1, 1)  # the one 2 is missing in a third of the resamples


def test_weights_follow_the_labels_where_a_level_is_missing():
    # 1 and 4 are three apart, whether or not anybody said 2 or 3.
    a, b = [1, 1, 4, 3], [1, 4, 4, 4]
    assert cohen_kappa(a, b, "linear") == pytest.approx(cohen_kappa_score(a, b, weights="linear", labels=[1, 2, 3, 4]))
    assert cohen_kappa(a, b, "linear") != pytest.approx(cohen_kappa_score(a, b, weights="linear"))


def test_kappa_takes_names_and_leaves_missing_labels_out():
    assert cohen_kappa(["yes", "no", "no"], ["yes", "no", "yes"]) == pytest.approx(cohen_kappa([1, 0, 0], [1, 0, 1]))
    assert cohen_kappa([1, NAN, 0, 0], [1, 1, 0, 1]) == cohen_kappa([1, 0, 0], [1, 0, 1])
    assert np.isnan(cohen_kappa([], []))
    assert np.isnan(kappa_interval([NAN], [1])).all()


def test_the_interval_of_kappa_is_that_of_resampled_units():
    rng = np.random.default_rng(1)
    a = rng.integers(1, 5, 120)
    b = np.clip(a + rng.integers(-1, 2, 120), 1, 4)
    drawn = [rng.integers(120, size=120) for _ in range(1000)]
    slow = [cohen_kappa(a[at], b[at], "quadratic") for at in drawn]
    low, high = kappa_interval(a, b, "quadratic", samples=2000)
    assert (low, high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=0.02)


def test_specific_agreement_by_hand():
    # Three units, two ratings each: (1, 1), (1, 2), (2, 2). Of the 3 ratings 1, two meet another 1.
    counts = [[2, 0, 0], [1, 1, 0], [0, 2, 0]]
    assert specific_agreement(counts) == pytest.approx([4 / 6, 2 / 3, 2 / 3, NAN], nan_ok=True)


@settings(max_examples=40)
@given(RATINGS)
def test_specific_agreement_agrees_with_going_through_every_two_raters(ratings):
    units, raters = np.nonzero(~np.isnan(ratings))
    counts = value_counts(units, ratings[units, raters].astype(int) - 1, (len(ratings), 4))
    met, equal = np.zeros(4), np.zeros(4)
    for unit in ratings:
        given = unit[~np.isnan(unit)].astype(int) - 1
        for i in range(len(given)):
            for j in range(len(given)):
                if i != j:
                    met[given[i]] += 1 / (len(given) - 1)
                    equal[given[i]] += (given[i] == given[j]) / (len(given) - 1)
    with np.errstate(invalid="ignore"):
        expected = [equal.sum() / met.sum(), *(equal / met)]
    assert specific_agreement(counts) == pytest.approx(expected, nan_ok=True)


def test_the_intervals_of_specific_agreement_are_those_of_resampled_units():
    rng = np.random.default_rng(2)
    counts = rng.multinomial(3, [0.6, 0.3, 0.1], size=90)
    slow = [specific_agreement(counts[rng.integers(90, size=90)]) for _ in range(1000)]
    found = specific_intervals(counts, samples=2000)
    np.testing.assert_allclose(found, np.nanquantile(slow, [0.025, 0.975], axis=0).T, atol=0.03)
    assert np.isnan(specific_intervals([[1, 0], [0, 1]])).all()


def test_votes_on_one_unit_are_drawn_together():
    """Five copies of a vote say no more than one, so that the interval is that of one vote per unit."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    copied = [np.repeat(one, 5) for one in (a, b, np.arange(60))]
    assert kappa_interval(copied[0], copied[1], units=copied[2], samples=4000) == pytest.approx(
        kappa_interval(a, b, samples=4000), abs=0.03
    )
    assert share_interval(copied[0], copied[2], samples=4000) == pytest.approx(
        bootstrap_interval(a, samples=4000), abs=0.02
    )
    assert np.isnan(share_interval([], [])).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: krippendorff_alpha([1, 2]), "an array .units, raters., not one of shape"),
        (lambda: krippendorff_alpha([[1, 2]], level="ratio"), "Unknown level of measurement 'ratio': use nominal"),
        (lambda: cohen_kappa([1, 2], [1]), "two lists of equal length"),
        (lambda: cohen_kappa([1, 2], [1, 2], "cubic"), "Unknown weights 'cubic'"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
