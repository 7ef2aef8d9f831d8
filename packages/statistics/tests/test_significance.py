import doctest
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import bootstrap, permutation_test
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from counterpart_metrics.figures import bootstrap_interval
from counterpart_statistics import significance
from counterpart_statistics.significance import (
    compared_means,
    cumulative_shares,
    fisher_randomisation,
    mcnemar,
    randomisation_pvalues,
    stars,
)

OUTCOMES = st.integers(1, 120).flatmap(lambda n: st.tuples(*[arrays(np.int8, n, elements=st.integers(0, 1))] * 2))
VALUES = st.integers(2, 9).flatmap(
    lambda n: st.tuples(*[arrays(float, n, elements=st.sampled_from([0, 0.1, 0.3, 1]))] * 2)
)


def test_the_documented_examples_hold():
    assert doctest.testmod(significance).failed == 0


def test_mcnemar_is_exact_for_few_discordant_pairs():
    # 8 right for a alone, 2 for b alone: 2 (1 + 10 + 45) / 2^10.
    a, b = [1] * 8 + [0] * 2 + [1] * 5, [0] * 8 + [1] * 2 + [1] * 5
    assert mcnemar(a, b) == (2, pytest.approx(112 / 1024))


def test_mcnemar_is_chi_square_with_continuity_for_many():
    # (|40 - 20| - 1)² / 60 = 6.0167.
    found = mcnemar([1] * 40 + [0] * 20, [0] * 40 + [1] * 20)
    assert found == (pytest.approx(361 / 60), pytest.approx(0.014171, abs=1e-6))


def test_mcnemar_is_chi_square_from_25_discordant_pairs_on():
    # The exact test's statistic is the smaller number; (|18 - 7| - 1)² / 25 = 4.
    found = [mcnemar([1] * n + [0] * 7, [0] * n + [1] * 7).statistic for n in (17, 18)]
    assert found == [7, 4]


def test_mcnemar_without_discordant_pairs_finds_no_difference():
    assert mcnemar([1, 0, 1], [1, 0, 1]).pvalue == 1
    assert mcnemar([1, 0, 1], [1, 0, 1], exact=False).pvalue == 1


@given(OUTCOMES, st.booleans())
def test_mcnemar_agrees_with_statsmodels(pair, exact):
    a, b = pair
    table = [[np.sum((a == i) & (b == j)) for j in (0, 1)] for i in (0, 1)]
    if table[0][1] == table[1][0] and not exact:
        assert mcnemar(a, b, exact=exact) == (0, 1)  # statsmodels "corrects" a difference of 0 to 1
        return
    if table[0][1] == table[1][0] == 0:
        return  # statsmodels has no p-value
    found, expected = mcnemar(a, b, exact=exact), statsmodels_mcnemar(table, exact=exact)
    assert found == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue))


def test_the_randomisation_of_three_queries_by_hand():
    # Of the 8 sign assignments of (1, 1, 0.5), those with |sum| >= 2.5 are the two with equal signs.
    assert fisher_randomisation([1, 1, 0.5], [0, 0, 0]) == (pytest.approx(2.5 / 3), 0.25)


@given(VALUES)
@settings(max_examples=30)
@example((np.array([0.3, 0.3, 1, 0, 0, 0.3, 0.3, 0.3]), np.array([0, 0.1, 0.1, 0.3, 0, 0, 1, 1])))
def test_the_exact_randomisation_agrees_with_scipy(pair):
    a, b = pair
    found = fisher_randomisation(a, b)
    tenths = np.rint(10 * a), np.rint(10 * b)  # in whole numbers, as scipy misses sums that are equal but for rounding
    expected = permutation_test(
        tenths, lambda x, y, axis: (x - y).mean(axis), permutation_type="samples", vectorized=True, n_resamples=np.inf
    )
    signs = np.array(list(product([1, -1], repeat=len(a))))
    shares = np.abs(signs @ (a - b)) >= abs((a - b).sum()) - 1e-9
    assert found.pvalue == pytest.approx(shares.mean())
    assert found.statistic == pytest.approx(expected.statistic / 10)
    if np.any(a != b):  # scipy doubles the smaller tail, which is the same for a symmetric distribution
        assert found.pvalue == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("rounded", [False, True])
def test_the_random_randomisation_agrees_with_scipy(rounded):
    rng = np.random.default_rng(5)
    a = rng.random(400)
    b = a + rng.normal(0.02, 0.2, 400)
    if rounded:  # few distinct differences, which are drawn together
        a, b = a > 0.5, b > 0.5
    expected = permutation_test(
        (np.asarray(a, float), np.asarray(b, float)),
        lambda x, y, axis: (x - y).mean(axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9_999,
        rng=1,
    )
    found = fisher_randomisation(a, b, samples=20_000, seed=3)
    assert found.pvalue == pytest.approx(expected.pvalue, abs=0.016)  # three standard errors
    assert found == fisher_randomisation(a, b, samples=20_000, seed=3)


def test_a_random_p_value_is_never_zero():
    assert fisher_randomisation(np.ones(100), np.zeros(100), samples=999).pvalue == 1 / 1000


def test_queries_that_either_model_leaves_out_do_not_count():
    nan = float("nan")
    assert fisher_randomisation([1, nan, 1, 1, 0], [0, 1, nan, 0, 0]) == fisher_randomisation([1, 1, 0], [0, 0, 0])
    assert mcnemar([1, nan, 0], [0, 0, 1]) == mcnemar([1, 0], [0, 1])
    assert bootstrap_interval([nan, 0.25, nan]) == (0.25, 0.25)
    assert np.isnan(bootstrap_interval([nan])).all()
    assert np.isnan(fisher_randomisation([nan], [1]).statistic)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("metric", ["R@1", "mAP@R"])
def test_the_bootstrap_interval_agrees_with_scipy(metric, confidence):
    values = np.random.default_rng(0).beta(0.4, 0.6, 600)
    values = values > 0.5 if metric == "R@1" else values
    low, high = bootstrap_interval(values, confidence=confidence, samples=4000)
    expected = bootstrap(
        (values,), np.mean, confidence_level=confidence, n_resamples=4000, method="percentile", rng=1
    ).confidence_interval
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.004)


def test_the_same_seed_gives_the_same_interval():
    values = np.random.default_rng(0).random(50)
    assert bootstrap_interval(values, seed=4) == bootstrap_interval(values, seed=4) != bootstrap_interval(values)


@pytest.mark.parametrize("metric", ["R@1", "mAP@R"])
def test_the_bootstrap_interval_covers_the_truth_at_its_rate_over_200_pools(metric):
    rng = np.random.default_rng(20)

    def pool() -> np.ndarray:
        queries = rng.beta(0.5, 0.5, 150)  # many queries near 0 and 1, as of mAP@R
        return (queries < 0.5 if metric == "R@1" else queries).astype(float)

    covered = 0
    for seed in range(200):
        low, high = bootstrap_interval(pool(), seed=seed)
        covered += low <= 0.5 <= high
    assert 181 <= covered <= 198  # 190 are expected; three standard deviations are 9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mcnemar([0, 1], [1]), "two lists of equal length, not (2,) and (1,)"),
        (lambda: mcnemar([0, 0.5], [1, 0]), "outcomes that are 0 or 1"),
        (lambda: fisher_randomisation([[1]], [[1]]), "two lists of equal length"),
        (lambda: fisher_randomisation([1], [1], samples=0), "Invalid number of samples 0"),
        (lambda: bootstrap_interval([[1.0]]), "not an array of shape (1, 1)"),
        (lambda: bootstrap_interval([1.0], confidence=95), "Invalid confidence 95"),
        (lambda: bootstrap_interval([1.0], samples=0), "Invalid number of samples 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(call, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        call()


def test_many_randomisations_at_once_agree_with_single_ones():
    rng = np.random.default_rng(3)
    first = rng.random(60)
    others = np.stack([first - 0.3 + rng.normal(0, 0.4, 60), first + rng.normal(0, 0.4, 60), first], 1)
    together = randomisation_pvalues(first[:, None] - others, samples=40_000)
    alone = [fisher_randomisation(first, other, samples=40_000, seed=1).pvalue for other in others.T]
    assert together == pytest.approx(alone, abs=0.01)
    assert together[2] == 1.0


@pytest.mark.parametrize("differences", [[1.0, 2.0], [[[1.0]]]])
def test_many_randomisations_need_a_column_for_each_pair(differences):
    with pytest.raises(ValueError, match="must have the shape"):
        randomisation_pvalues(differences)


def test_cumulative_shares_by_hand():
    # Three systems, eight queries. At 3 the second has 6 right that the first misses, none the other way: 2 / 2^6.
    one, other = [4, 3, 1, 1, 1, 1, 1, 1], [4, 3, 3, 3, 3, 3, 3, 3]
    found = cumulative_shares([one, other, [8 / 3] * 8], [4, 3, 2.6666666666666667], against=0)
    assert found.figures.tolist() == [[0.125, 0.25, 0.25], [0.125, 1, 1], [0, 0, 1]]
    assert found.pvalues[0].tolist() == [1, 1, 1]
    assert found.pvalues[1].tolist() == [1, 1 / 32, 1 / 32]


def test_cumulative_shares_are_those_of_a_slow_count_over_the_queries_that_have_a_score():
    rng = np.random.default_rng(4)
    scores = rng.integers(3, 13, (4, 90)) / 3
    scores[rng.random(scores.shape) < 0.1] = np.nan
    found = cumulative_shares(scores, [2, 3, 4], against=3)
    for s, row in enumerate(scores):
        for t, threshold in enumerate([2, 3, 4]):
            kept = [value for value in row if not np.isnan(value)]
            assert found.figures[s, t] == pytest.approx(sum(value > threshold - 0.1 for value in kept) / len(kept))
            both = ~np.isnan(row) & ~np.isnan(scores[3])
            outcomes = [(one[both] > threshold - 0.1).astype(int) for one in (row, scores[3])]
            assert found.pvalues[s, t] == mcnemar(*outcomes).pvalue


def test_compared_means_are_tested_by_randomisation():
    scores = np.random.default_rng(5).integers(1, 5, (3, 40)).astype(float)
    found = compared_means(scores, against=1, samples=500, seed=2)
    assert found.figures.tolist() == pytest.approx(scores.mean(1).tolist())
    for one, pvalue in zip(scores, found.pvalues, strict=True):
        assert pvalue == fisher_randomisation(one, scores[1], 500, 2).pvalue


def test_scores_of_one_system_alone_are_refused():
    with pytest.raises(ValueError, match=r"\(systems, queries\), not \(3,\)"):
        cumulative_shares([1, 2, 3], [2], against=0)


def test_a_system_without_scores_has_no_share():
    assert np.isnan(cumulative_shares([[np.nan, np.nan], [1, 2]], [2], against=1).figures[0, 0])


def test_marks_begin_at_a_tenth():
    assert [stars(pvalue) for pvalue in (0.11, 0.1, 0.05, 0.011, 0.01, 0)] == ["", "*", "**", "**", "***", "***"]
