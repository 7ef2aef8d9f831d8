from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import binomtest

from evaluation.completeness import (
    Beyond,
    capture_cells,
    capture_estimates,
    chao,
    chapman,
    estimate_by_parts,
    expected_matches,
    histories,
    sample_coverage,
)


def caught_by_hand():
    """Three annotators: 4 matches by a alone, 3 by b alone, 2 by c alone, 2 by a and b, 1 by a and c, 1 by all."""
    rows = [[1, 0, 0]] * 4 + [[0, 1, 0]] * 3 + [[0, 0, 1]] * 2 + [[1, 1, 0]] * 2 + [[1, 0, 1]] + [[1, 1, 1]]
    return np.array(rows, bool)


def modelled(caught, name):
    return capture_estimates(caught, np.arange(len(caught)), samples=2)[name].value


def random_captures(seed, n=400, a=4):
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=(n, 1))
    caught = rng.random((n, a)) < 1 / (1 + np.exp(0.5 - ease - rng.normal(size=a) * 0.3))
    return caught[caught.any(axis=1)]


def test_histories_are_counted_by_bits():
    cells = capture_cells(caught_by_hand())
    assert cells.tolist() == [0, 4, 3, 2, 2, 1, 0, 1]
    assert histories(8)[5].tolist() == [True, False, True]


def test_chapman_by_hand():
    # Caught: a 8, b 6, c 4; by a and b 3, by a and c 2, by b and c 1.
    # (9*7/4 - 1, 9*5/3 - 1, 7*5/2 - 1) = (14.75, 14, 16.5)
    assert chapman(capture_cells(caught_by_hand())) == 14.75


def test_chao_by_hand():
    # D = 13, f1 = 9, f2 = 3: 13 + 2/3 * 9*8 / (2*4) = 19
    assert chao(capture_cells(caught_by_hand())) == 19


def test_sample_coverage_by_hand():
    # sum j f_j = 9 + 6 + 3 = 18; C = 1 - (9 - 2*3/2) / 18 = 2/3; D / C = 19.5
    # g2 = 19.5 * (2*3 + 6*1) / (18^2 - 64 - 36 - 16 = 208) - 1 = 0.125; 19.5 + 13.5 * 0.125
    assert sample_coverage(capture_cells(caught_by_hand())) == pytest.approx(21.1875)


def slow_log_linear(caught, terms):
    """statsmodels on the table of histories, with the interactions ``terms``."""
    a = caught.shape[1]
    flags = np.array([[code >> bit & 1 for bit in range(a)] for code in range(1, 2**a)], float)
    counts = [sum((row == flag).all() for row in caught) for flag in flags.astype(bool)]
    columns = [flags, *(flags[:, i : i + 1] * flags[:, j : j + 1] for i, j in terms)]
    fit = sm.GLM(counts, sm.add_constant(np.hstack(columns)), family=sm.families.Poisson()).fit()
    return len(caught) + np.exp(fit.params[0]), -2 * fit.llf + len(fit.params) * np.log(len(caught))


@pytest.mark.parametrize("seed", range(3))
def test_the_log_linear_model_is_that_of_statsmodels_with_the_interactions_that_bic_chooses(seed):
    caught = random_captures(seed)
    chosen, (value, best) = [], slow_log_linear(caught, [])
    while True:
        more = [pair for pair in combinations(range(4), 2) if pair not in chosen]
        found = {pair: slow_log_linear(caught, [*chosen, pair]) for pair in more}
        pair = min(found, key=lambda one: found[one][1])
        if found[pair][1] >= best:
            break
        chosen.append(pair)
        value, best = found[pair]
    assert modelled(caught, "log-linear") == pytest.approx(value, rel=1e-5)


def test_the_heterogeneous_model_is_that_of_statsmodels():
    caught = random_captures(5)
    flags = histories(16)[1:].astype(float)
    counts = capture_cells(caught)[1:]
    design = sm.add_constant(np.column_stack([flags, flags.sum(1) ** 2 / 2]))
    fit = sm.GLM(counts, design, family=sm.families.Poisson()).fit()
    estimate = modelled(caught, "log-linear, heterogeneous")
    assert estimate == pytest.approx(len(caught) + np.exp(fit.params[0]))


@pytest.mark.parametrize("name", ["Chapman", "Chao", "sample coverage", "log-linear"])
def test_independent_annotators_of_equal_matches_are_estimated_well(name):
    estimates = []
    for seed in range(20):
        caught = np.random.default_rng(seed).random((1_000, 5)) < [0.3, 0.4, 0.35, 0.25, 0.3]
        estimates.append(modelled(caught[caught.any(axis=1)], name))
    assert np.mean(estimates) == pytest.approx(1_000, rel=0.05)


def test_annotators_that_miss_the_same_matches_are_underestimated():
    ease = np.random.default_rng(0).random((5_000, 1)) ** 3
    caught = np.random.default_rng(1).random((5_000, 5)) < ease
    cells = capture_cells(caught[caught.any(axis=1)])
    assert cells.sum() <= chapman(cells) < chao(cells) < 4_500


def test_estimates_come_with_intervals_over_queries_and_the_same_seed_gives_the_same():
    caught = random_captures(2)
    queries = np.arange(len(caught)) // 5
    once, again = (capture_estimates(caught, queries, samples=50, seed=4) for _ in range(2))
    assert once == again
    assert once["Chao"].value == chao(capture_cells(caught))
    assert all(one.low < one.value < one.high for one in once.values())


def test_matches_of_one_query_vary_together():
    caught = np.repeat(random_captures(3, n=40), 10, axis=0)
    alone = capture_estimates(caught, np.arange(len(caught)))["Chao"]
    together = capture_estimates(caught, np.arange(len(caught)) // 10)["Chao"]
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_a_pool_by_one_annotator_says_nothing_of_what_is_missing():
    found = capture_estimates(np.ones((6, 1)), np.arange(6))
    assert found["Chapman"].value == found["sample coverage"].value == 6


def listed_pairs(seed, n=3_000):
    """Pairs of two annotators' lists 20 deep, those of ranks to 5 judged; matches are likelier at the top."""
    rng = np.random.default_rng(seed)
    ranks = rng.integers(0, 21, (n, 2))
    ranks[(ranks == 0).all(axis=1), 0] = 20
    chance = 1 / (1 + np.exp(2.5 - 0.8 * np.where(ranks > 0, np.log(21) - np.log(np.maximum(ranks, 1)), 0).sum(1)))
    truth = rng.random(n) < chance
    judged = ((ranks > 0) & (ranks <= 5)).any(axis=1)
    return ranks, truth, judged


def test_matches_among_listed_pairs_are_extrapolated_from_the_top():
    ranks, truth, judged = listed_pairs(0)
    gains, queries = np.where(judged, truth, np.nan), np.arange(3_000) // 20
    parts = estimate_by_parts(ranks, gains, queries, Beyond(pairs=10_000, probes=100, matches=1), samples=40)
    assert parts.found == truth[judged].sum()
    assert parts.listed.low < truth[~judged].sum() < parts.listed.high
    assert parts.listed.value == pytest.approx(truth[~judged].sum(), rel=0.15)
    assert parts.outside.value == 100
    exact = binomtest(1, 100).proportion_ci(method="exact")
    assert (parts.outside.low, parts.outside.high) == pytest.approx((10_000 * exact.low, 10_000 * exact.high))
    assert parts.total.value == pytest.approx(parts.found + parts.listed.value + 100)


def test_pairs_that_only_the_other_direction_lists_are_likelier_matches_than_the_probes_say():
    # 2 of 100 probes stand for 900 pairs; of 100 others 22 are expected to match: (18 + 22) / 1,000 of 5,000 pairs.
    ranks, gains = [[1], [2], [0]], [1.0, 0.0, 1.0]
    beyond = Beyond(pairs=5_000, probes=100, matches=2, probed=900, beside=100, expected=22.0)
    parts = estimate_by_parts(ranks, gains, [0, 0, 1], beyond, samples=5)
    assert parts.found == 2
    assert parts.outside.value == pytest.approx(200 - 1)  # one of them was found already


def test_expected_matches_are_the_gains_of_judged_pairs_and_chances_of_others():
    ranks, truth, judged = listed_pairs(1)
    expected = expected_matches(ranks, np.where(judged, truth, np.nan))
    np.testing.assert_array_equal(expected[judged], truth[judged])
    assert expected[~judged].sum() == pytest.approx(truth[~judged].sum(), rel=0.15)
    deep = (ranks[~judged] == 20).any(axis=1) & (ranks[~judged] == 0).any(axis=1)
    assert expected[~judged][deep].mean() < expected[~judged].mean()


@pytest.mark.parametrize("matches", [0.0, 1.0])
def test_judged_pairs_that_are_all_the_same_are_extrapolated_as_such(matches):
    gains = np.array([matches, matches, np.nan, np.nan, np.nan])
    parts = estimate_by_parts([[1], [2], [3], [4], [5]], gains, [0, 1, 0, 1, 1], Beyond(7, 0, 0), samples=5)
    assert parts.listed.value == 3 * matches
    assert np.isnan(parts.outside.value)
    assert (parts.outside.low, parts.outside.high) == (0, 7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: capture_cells([[0, 0], [1, 0]]), "1 matches were proposed by no annotator"),
        (lambda: capture_cells(np.ones((2, 13))), "1 to 12 annotators"),
        (lambda: capture_estimates(np.ones((0, 2)), []), "No match was found"),
        (lambda: estimate_by_parts([[1]], [1], [0], Beyond(1, 1, 2)), "2 of 1 probes"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
