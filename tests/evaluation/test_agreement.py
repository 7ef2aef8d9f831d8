import doctest
import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import cohen_kappa_score

from evaluation import agreement
from evaluation.agreement import (
    SCALES,
    alpha_interval,
    alpha_of_counts,
    cohen_kappa,
    kappa_interval,
    krippendorff_alpha,
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


def test_a_level_that_nobody_used_changes_nothing():
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


def test_kappa_by_hand():
    # 50 units: both yes 20, both no 15, only a 5, only b 10. p_o = 0.7, p_e = 0.5 x 0.6 + 0.5 x 0.4 = 0.5.
    a = [1] * 25 + [0] * 25
    b = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(a, b) == pytest.approx(0.4)


@given(PAIRED, st.sampled_from([None, "linear", "quadratic"]))
def test_kappa_agrees_with_scikit_learn(pair, weights):
    a, b = pair
    found = cohen_kappa(a, b, weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cohen_kappa_score(a, b, weights=weights, labels=[1, 2, 3, 4])
    assert found == pytest.approx(expected, nan_ok=True)


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


@given(RATINGS, st.sampled_from(SCALES))
def test_alpha_does_not_depend_on_the_order_of_units_and_raters(ratings, level):
    found = krippendorff_alpha(ratings, level)
    assume(not np.isnan(found))
    assert krippendorff_alpha(ratings[::-1, ::-1], level) == pytest.approx(found)


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
