from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm

from counterpart_statistics.completeness import (
    Beyond,
    capture_cells,
    capture_estimates,
    chao,
    chapman,
    enough_random_pairs,
    estimate_by_parts,
    expected_matches,
    histories,
    sample_coverage,
)
from counterpart_statistics.random_pairs import ControlVotes, Estimate, learn_from_controls
from counterpart_statistics.vote_errors import WorkersControls, Wrong, vote_errors


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


@pytest.mark.parametrize("seed", range(2))
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


def test_annotators_that_avoid_each_others_matches_are_overestimated():
    # Two annotators share 20 matches and find 190 each that the other avoids: (211 * 211 / 21) - 1 = 2,119 of 400.
    caught = np.repeat([[True, False], [False, True], [True, True]], [190, 190, 20], axis=0)
    assert capture_estimates(caught, np.arange(400), samples=2)["Chapman"].value == pytest.approx(211**2 / 21 - 1)


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
    gains = np.where(judged, truth, np.nan)
    parts = estimate_by_parts(ranks, gains, Beyond(10_000, Estimate(0.01, 0.005, 0.02)))
    assert parts.found == parts.judged.value == truth[judged].sum()
    assert parts.listed == (parts.listed.value, 0, 2 * parts.listed.value)
    assert parts.listed.value == pytest.approx(truth[~judged].sum(), rel=0.15)
    assert parts.outside == (100, 50, 200)
    assert parts.total.value == pytest.approx(parts.found + parts.listed.value + 100)
    assert parts.total.high == pytest.approx(parts.found + parts.listed.high + 200)


def test_pairs_that_only_the_other_direction_lists_are_likelier_matches_than_random_pairs():
    # 2% of 900 pairs match; of 100 others 22 are expected to: (18 + 22) / 1,000 of 5,000 pairs.
    ranks, gains = [[1], [2], [0]], [1.0, 0.0, 1.0]
    beyond = Beyond(5_000, Estimate(0.02, 0.0, 0.1), probed=900, reverse=100, expected=22.0)
    parts = estimate_by_parts(ranks, gains, beyond)
    assert parts.found == 2
    assert parts.outside.value == pytest.approx(200 - 1)  # one of them was found already


NOTHING_OUTSIDE = Beyond(0, Estimate(0.0, 0.0, 0.0))


def test_wrong_verdicts_are_taken_off_by_hand():
    # 100 judged pairs, 20 called matches. If 4% of the others are called so and 20% of matches missed:
    # (20 - 4) / (1 - 0.04 - 0.2) = 21.05. Least: 12% wrong, none missed: (20 - 12) / 0.88 = 9.09. Most: 20 / 0.6.
    wrong = Wrong(yes=Estimate(0.04, 0.0, 0.12), no=Estimate(0.2, 0.0, 0.4))
    gains = np.array([1.0] * 20 + [0.0] * 80)
    parts = estimate_by_parts(np.ones((100, 1)), gains, NOTHING_OUTSIDE, wrong=wrong)
    assert parts.judged == pytest.approx((16 / 0.76, 8 / 0.88, 20 / 0.6))
    assert parts.total == pytest.approx(parts.judged)
    assert parts.found == 20
    assert not parts.is_estimable  # 24 wide


def test_verdicts_that_are_wrong_as_often_as_right_give_no_estimate():
    coin = Wrong(yes=Estimate(0.5, 0.4, 0.6), no=Estimate(0.5, 0.4, 0.6))
    parts = estimate_by_parts([[1], [2]], [1.0, 0.0], NOTHING_OUTSIDE, wrong=coin)
    assert np.isnan(parts.total.value)
    assert not parts.is_estimable


def test_an_estimate_is_one_if_its_interval_is_no_wider_than_itself():
    ranks, gains = np.ones((10, 1)), np.ones(10)
    widths = [(Estimate(0.01, 0.0, high), high <= 0.02) for high in (0.02, 0.021)]
    for rate, is_estimable in widths:
        parts = estimate_by_parts(ranks, gains, Beyond(1_000, rate))
        assert parts.total.value == 20
        assert parts.is_estimable == is_estimable


def test_the_number_of_random_pairs_that_would_be_enough_is_estimated():
    # 10 matches found and none outside: the interval may reach 20, a share of 0.001 of 10,000 pairs. That takes
    # ln(40) / 0.001 = 3,689 random pairs without a yes: 100 doubled six times.
    none = ControlVotes(np.zeros(100), np.ones(100), 0, 10_000)
    beyond = Beyond(10_000, learn_from_controls(none).rate, probed=10_000)
    parts = estimate_by_parts(np.ones((10, 1)), np.ones(10), beyond)
    assert not parts.is_estimable
    assert enough_random_pairs(parts, beyond, none) == 6_400
    assert enough_random_pairs(parts, beyond._replace(probed=6_000), none) is None


def test_no_number_of_random_pairs_is_enough_where_matches_cannot_be_separated_from_mistakes():
    single = ControlVotes([1] * 5 + [0] * 95, np.ones(100), 0, 10_000)
    beyond = Beyond(10_000, learn_from_controls(single).rate, probed=10_000)
    parts = estimate_by_parts(np.ones((10, 1)), np.ones(10), beyond)
    assert enough_random_pairs(parts, beyond, single) is None


def test_a_few_wrong_votes_on_random_pairs_do_not_count_as_many_matches():
    # As on COCO: 1,388 random pairs of three votes, of which three say match, each alone on its pair, for 31 million
    # pairs outside the lists. Three pairs that match would be 68,000 matches there.
    votes = ControlVotes([1] * 3 + [0] * 1_385, np.full(1_388, 3), 2, 4_164)
    beyond = Beyond(31_500_000, learn_from_controls(votes).rate, probed=31_500_000)
    parts = estimate_by_parts(np.ones((9_000, 1)), np.ones(9_000), beyond)
    assert parts.outside.value < 1
    assert parts.outside.high > 80_000  # one in 376 of them may match, by chance not drawn
    assert not parts.is_estimable
    assert enough_random_pairs(parts, beyond, votes) == 1_388 * 16


class Drawn:
    """A direction with workers who err: 400 queries' listed pairs of ``listed_pairs`` and 60,000 pairs outside."""

    outside = 60_000

    def __init__(self, seed, *, replication=3, random_pairs=6_000, error=0.05, missed=0.1, rate=0.01):
        self.rng = np.random.default_rng(seed)
        self.ranks, truth, judged = listed_pairs(seed)
        elsewhere = self.rng.random(self.outside) < rate
        self.truth = int(truth.sum() + elsewhere.sum())
        self.error, self.missed, self.replication = error, missed, replication
        self.yes = self.votes(truth)[judged]
        self.gains = np.full(len(truth), np.nan)
        self.gains[judged] = self.yes > replication / 2
        answers = self.rng.binomial(20, [error, missed], (30, 2))
        self.workers = WorkersControls(answers, np.full((30, 2), 20), np.full(30, 20))
        yes = self.votes(self.rng.choice(elsewhere, random_pairs, replace=False))
        known = 3_000
        wrong = int(known - self.votes(np.ones(known // replication, bool)).sum())
        self.controls = ControlVotes(yes, np.full(random_pairs, replication), wrong, known)

    def votes(self, truth):
        return self.rng.binomial(self.replication, np.where(truth, 1 - self.missed, self.error))

    def estimate(self):
        votes = np.full(len(self.yes), self.replication)
        wrong = vote_errors(self.workers, self.yes, votes).by_majority(votes)
        beyond = Beyond(self.outside, learn_from_controls(self.controls).rate, probed=self.outside)
        return estimate_by_parts(self.ranks, self.gains, beyond, wrong=wrong)


@pytest.mark.parametrize("crowd", [{}, {"error": 0.1, "replication": 5}])
def test_with_workers_who_err_the_interval_holds_the_truth_as_often_as_it_says(crowd):
    drawn = [Drawn(seed, **crowd) for seed in range(20)]
    held = [(one.truth, parts) for one in drawn if (parts := one.estimate()).is_estimable]
    assert len(held) >= 15
    assert sum(parts.total.low <= truth <= parts.total.high for truth, parts in held) >= 0.95 * len(held)
    assert np.median([parts.total.value / truth for truth, parts in held]) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("crowd", [{"replication": 1}, {"random_pairs": 200}, {"rate": 0.002}])
def test_single_votes_that_err_few_random_pairs_or_few_matches_give_no_estimate(crowd):
    assert not any(Drawn(seed, **crowd).estimate().is_estimable for seed in range(5))


def test_matches_among_listed_pairs_that_may_be_mistakes_are_not_estimable():
    """As in an audit of COCO: one vote a pair, wrong on 8% of the pairs that do not match, and most listed pairs
    unjudged. Without the errors six times too many matches are found; random pairs are all judged rightly."""
    rng = np.random.default_rng(0)
    truth = np.concatenate([rng.random(4_000) < 0.2, np.zeros(40_000, bool)])
    ranks = np.concatenate([rng.integers(1, 6, 4_000), rng.integers(6, 26, 40_000)])[:, None]
    judged = (np.arange(len(truth)) < 4_000) | (rng.random(len(truth)) < 0.05)
    gains = np.where(judged, rng.random(len(truth)) < np.where(truth, 0.95, 0.08), np.nan)
    beyond = Beyond(10**6, Estimate(0.0, 0.0, 1e-5), probed=10**6)
    trusting = estimate_by_parts(ranks, gains, beyond)
    assert trusting.total.value > 4 * truth.sum()
    workers = WorkersControls(rng.binomial(20, 0.065, (40, 2)), np.full((40, 2), 20), np.full(40, 20))
    asked = np.ones(int(judged.sum()))
    wrong = vote_errors(workers, gains[judged], asked).by_majority(asked)
    parts = estimate_by_parts(ranks, gains, beyond, wrong=wrong)
    assert (parts.is_separable, parts.is_estimable) == (False, False)
    assert parts.total.low <= truth.sum() <= parts.total.high


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
    beyond = Beyond(7, Estimate(np.nan, 0, 1))
    parts = estimate_by_parts([[1], [2], [3], [4], [5]], gains, beyond)
    assert parts.listed.value == 3 * matches
    assert np.isnan(parts.outside.value)
    assert (parts.outside.low, parts.outside.high) == (0, 7)
    assert not parts.is_estimable


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: capture_cells([[0, 0], [1, 0]]), "1 matches were proposed by no annotator"),
        (lambda: capture_cells(np.ones((2, 13))), "1 to 12 annotators"),
        (lambda: capture_estimates(np.ones((0, 2)), []), "No match was found"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
