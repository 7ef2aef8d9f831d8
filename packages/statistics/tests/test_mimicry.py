"""Workers who follow an annotator: honest ones are flagged as rarely as stated, followers are found."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom
from sklearn.metrics import roc_auc_score
from statsmodels.stats.multitest import multipletests

from counterpart_statistics.estimation.probabilities import shift_logits
from counterpart_statistics.following import separation
from counterpart_statistics.mimicry import expected_answers, find_followers, holm, others_votes

EACH = 48  # answers of a worker


def drawn(workers: int, *, tau: float = 0.0, seed: int = 0):
    """Honest answers to pairs, eight of a query; two annotators see the truth through noise. The probabilities are
    those from which the answers are drawn, but for each worker's own strictness and acuity."""
    rng = np.random.default_rng(seed)
    worker = np.repeat(np.arange(workers), EACH)
    query = np.arange(len(worker)) // 8
    signals = rng.normal(size=(2, len(worker)))
    chance = expit(-1 + 1.2 * signals.sum(axis=0))
    own = expit(
        rng.normal(0, 0.5, workers)[worker] + rng.uniform(0.7, 1.5, workers)[worker] * np.log(chance / (1 - chance))
    )
    shifted = shift_logits(own, tau, tau * rng.normal(size=query.max() + 1)[query])
    yes = (rng.random(len(worker)) < shifted).astype(float)
    return yes, worker, query, chance, signals


@pytest.mark.parametrize("tau", [0.0, 1.5])
def test_of_200_honest_workers_no_more_reach_a_p_value_than_it_says(tau):
    found = find_followers(*drawn(200, tau=tau, seed=3))
    p_values = np.array([one.p for one in found])
    for level in (0.05, 0.2):
        assert (p_values <= level).sum() <= binom.ppf(0.999, 200, level)
    assert sum(one.is_flagged for one in found) == 0


def test_a_follower_is_flagged_with_the_annotator_that_they_follow():
    yes, worker, query, chance, signals = drawn(40, seed=1)
    follows = worker == 7
    yes[follows] = signals[1, follows] > 0.4
    found = find_followers(yes, worker, query, chance, signals)
    assert [one.worker for one in found if one.is_flagged] == [7]
    assert (found[7].signal, found[7].share, found[7].auc) == (1, 0.95, 1.0)
    assert found[7].expected_auc < 0.9
    assert found[7].adjusted == pytest.approx(40 * found[7].p)


def test_who_looks_is_not_flagged_for_an_annotator_that_the_truth_itself_agrees_with():
    yes, worker, query, _chance, signals = drawn(20, seed=2)
    truth = signals[0] > 0
    found = find_followers(truth.astype(float), worker, query, np.where(truth, 0.97, 0.03), signals)
    assert not any(one.is_flagged for one in found)
    assert found[0].auc == 1


def test_too_few_answers_are_not_tested_and_do_not_count_in_the_correction():
    yes, worker, query, chance, signals = drawn(5, seed=4)
    short = (worker != 0) | (np.arange(len(worker)) < 29)
    yes[worker == 1] = 0.0
    found = find_followers(*(one[short] for one in (yes, worker, query, chance)), signals[:, short])
    assert [one.signal >= 0 for one in found] == [False, False, True, True, True]
    assert (found[0].answers, found[1].answers) == (29, EACH)
    assert np.isnan([found[0].p, found[0].adjusted, found[1].p]).all()
    assert max(one.adjusted / one.p for one in found[2:]) <= 3


def test_the_same_seed_gives_the_same_p_values():
    case = drawn(6, seed=5)
    first, again, other = ([one.p for one in find_followers(*case, seed=seed)] for seed in (1, 1, 2))
    assert first == again != other


def test_the_separation_is_that_of_scikit_learn_and_half_for_ties():
    rng = np.random.default_rng(0)
    signal = rng.integers(0, 6, 40)
    rows = rng.random((20, 40)) < 0.4
    assert separation(signal, rows) == pytest.approx([roc_auc_score(row, signal) for row in rows])
    assert separation([5, 5, 5], [[1, 0, 0]]) == 0.5
    assert np.isnan(separation([1, 2, 3], [[1, 1, 1]])[0])


@pytest.mark.parametrize(
    ("scores", "matches", "expected"),
    [
        ([4, 3, 2, 1], [1, 1, 0, 0], 1.0),
        ([1, 2, 3, 4], [1, 1, 0, 0], 0.0),
        ([4, 3, 2, 1], [1, 0, 1, 0], 0.75),
        ([2, 2, 2, 2], [1, 0, 1, 0], 0.5),
        ([3, 2, 2], [1, 1, 0], 0.75),
        ([-np.inf, 1, -np.inf], [1, 1, 0], 0.75),
        ([-np.inf, -5], [0, 1], 1.0),
        ([1, 2], [1, 1], np.nan),
        ([], [], np.nan),
    ],
)
def test_the_separation_counts_ties_as_half(scores, matches, expected):
    assert separation(scores, [matches])[0] == pytest.approx(expected, nan_ok=True)


def test_the_separation_of_a_case_by_hand():
    # Of the six pairs of a yes (at 1, 3) and a no (at 0, 2, 3), yes is higher in 3 and equal in 1.
    assert separation([1, 3, 0, 2, 3], [[1, 1, 0, 0, 0]])[0] == pytest.approx(3.5 / 6)


def test_the_correction_is_holms():
    p_values = np.random.default_rng(1).random(30) ** 3
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


def test_votes_of_others_leave_out_ones_own_and_answers_that_do_not_count():
    found = others_votes([1, 1, 1, 2], [1, 1, np.nan, 0])
    assert found[:, 1].tolist() == [1, 1, 2, 0]
    assert found[:, 0] == pytest.approx(np.log([1.5 / 0.5, 1.5 / 0.5, 2.5 / 0.5, 1]))


def test_nobodys_own_answers_teach_what_is_expected_of_them():
    yes, worker, _query, _chance, signals = drawn(10, seed=6)
    turned = np.where(worker == 3, 1 - yes, yes)
    before, after = (expected_answers(signals.T, answers, worker) for answers in (yes, turned))
    assert before[worker == 3] == pytest.approx(after[worker == 3], nan_ok=True)
    assert not np.allclose(before[worker != 3], after[worker != 3], equal_nan=True)


def test_a_worker_is_tested_by_an_eighth_of_the_number_of_the_others_answers():
    yes, worker, _query, _chance, signals = drawn(4, seed=7)
    known = ~np.isnan(expected_answers(signals.T, yes, worker))
    assert np.bincount(worker, known).tolist() == [3 * EACH // 8] * 4


def test_expected_answers_are_right_in_the_mean():
    yes, worker, _query, chance, signals = drawn(60, seed=8)
    expected = expected_answers(signals.T, yes, worker)
    assert np.abs(expected - chance).mean() < 0.06
    assert expected.mean() == pytest.approx(yes.mean(), abs=0.02)


def test_what_no_line_in_the_features_can_express_is_learned_too():
    rng = np.random.default_rng(9)
    signals = rng.normal(size=(2, 4_000))
    yes = (rng.random(4_000) < np.where(signals.prod(axis=0) > 0, 0.9, 0.1)).astype(float)
    expected = expected_answers(signals.T, yes, np.arange(4_000) // 40)
    assert np.abs(expected - np.where(signals.prod(axis=0) > 0, 0.9, 0.1)).mean() < 0.08


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, 2.0, "1 answers are neither 0 nor 1"),
        (3, 1.0, "1 probabilities are not between 0 and 1"),
        (4, np.nan, "1 values of signals are NaN"),
    ],
)
def test_bad_values_are_refused(place, value, message):
    case = drawn(2)
    case[place].flat[5] = value
    with pytest.raises(ValueError, match=message):
        find_followers(*case)


def test_arrays_of_different_lengths_are_refused():
    yes, worker, query, chance, signals = drawn(2)
    with pytest.raises(ValueError, match=r"\[96, 96, 96, 95, 96\]"):
        find_followers(yes, worker, query, chance[1:], signals)
    with pytest.raises(ValueError, match="must agree in N"):
        expected_answers(signals, yes, worker)
