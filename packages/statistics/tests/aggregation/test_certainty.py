"""Certainty of verdicts: against a slow model, and on drawn rounds whose sets count if their controls are right."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit, logit

from counterpart_statistics.aggregation import (
    ControlAnswers,
    certainty_of,
    full_conclusion,
    posterior,
    sorted_votes,
)
from counterpart_statistics.aggregation.certainty_intervals import corrected, correction_by
from counterpart_statistics.aggregation.crowds import Crowd, counted_rates, crowd_of, shared_errors
from counterpart_statistics.aggregation.posterior import GAP_MEAN, GAPS, SHARES, level_odds
from counterpart_statistics.aggregation.sorted_votes import read_votes
from crowds import Round, as_votes, certainty, draw_crowd, drawn

IS_MATCH = np.array([True, True, False, False])


def said_and_right(round: Round, found=None) -> tuple[np.ndarray, np.ndarray]:
    match = (found or certainty_of(round.votes, round.answers)).rows.read()
    return np.maximum(match, 1 - match), (match >= 0.5) == round.truth


def answers(worker: list[int], right: list[int], *, controls: list[int] | None = None) -> ControlAnswers:
    """Return a set of one control for each worker, by turns a match and none."""
    own = np.arange(len(worker))
    known = own if controls is None else np.array(controls)
    return ControlAnswers(np.array(worker), np.ones(len(own), bool), known, own, known % 2, np.array(right))


def test_a_rate_is_the_mean_of_one_more_answer_under_a_beta_distribution():
    crowd = Crowd(0.8, 5.0, 0.0, np.zeros(2))
    a, b = crowd.counts(answers([0], [1]), np.array([2.0]), np.array([3.0]))
    above, below = (quad(lambda p, n: p ** (3 + 2 + n) * (1 - p), 0, 1, args=(n,))[0] for n in (1, 0))
    assert (a / (a + b))[0] == pytest.approx(above / below, abs=1e-9)


def test_the_crowd_is_the_likeliest_by_answers_each_held_against_the_others_of_its_worker():
    """The slow reference goes through every answer."""
    given = drawn(1, items=160).answers
    found = crowd_of(given)

    def surprise(x):
        mean, alike, carry = expit(x[0]), np.exp(x[1]), expit(x[2])
        total = 4 * np.log(mean) + np.log(1 - mean) - (x[1] - np.log(5)) ** 2 / 2 - x[2] ** 2 / 8
        for answer, (of_set, right) in enumerate(zip(given.of_set, given.right, strict=True)):
            weights = np.where(given.of_set == of_set, 1, carry) * (given.worker[given.of_set] == given.worker[of_set])
            weights[answer] = 0
            rate = (mean * alike + weights @ given.right) / (alike + weights.sum())
            total += np.log(rate if right else 1 - rate)
        return -total

    best = minimize(surprise, [1.5, 1.6, 0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9}).x
    expected = (expit(best[0]), np.exp(best[1]), expit(best[2]))
    assert (found.mean, found.alike, found.carry) == pytest.approx(expected, rel=1e-3)


def test_a_side_whose_controls_are_right_more_often_is_easier():
    # 8 of 10 right in all with the crowd's 4 of 5: 0.8. Of matches 5 of 5, of other pairs 3 of 5; 15 given beforehand.
    found = crowd_of(answers(list(range(10)), [0, 1, 1, 1, 0, 1, 1, 1, 1, 1]))
    assert found.easier == pytest.approx(logit([(3 + 12) / 20, (5 + 12) / 20]) - logit(0.8))


def test_counted_votes_are_rated_by_the_controls_of_all_sets_and_not_by_their_own_which_are_all_right():
    said, by_their_own, true = [], [], []
    for seed in range(12):
        round = drawn(seed)
        voted = round.labels["label"].to_numpy() <= 2
        match = round.truth[round.labels["item"]]
        true.append([voted[match].mean(), 1 - voted[~match].mean()])
        said.append(counted_rates(round.answers))
        assert round.without_failed.answers.right.all()
        by_their_own.append(counted_rates(round.without_failed.answers))
    assert np.mean(by_their_own) > np.mean(true) + 0.02
    assert np.mean(said, axis=0) == pytest.approx(np.mean(true, axis=0), abs=0.03)


def test_without_an_answer_to_a_control_counted_votes_have_the_rate_of_the_crowd_beforehand():
    assert counted_rates(ControlAnswers.none()) == pytest.approx((0.8, 0.8), abs=1e-3)


def test_errors_are_shared_where_workers_err_on_the_same_controls():
    usual = Crowd(0.8, 5.0, 0.5, np.zeros(2))
    worker, controls = [list(one) for one in zip(*[(w, c) for w in range(12) for c in range(10)], strict=True)]
    apart = [int((w + c) % 5 != 0) for w, c in zip(worker, controls, strict=True)]
    together = [int(c % 5 != 0) for c in controls]
    rho = [shared_errors(answers(worker, right, controls=controls), usual) for right in (apart, together)]
    assert rho[0] < 0.1 < 0.3 < rho[1]


class Slow:
    """The model, vote by vote."""

    def __init__(self, round: Round) -> None:
        self.answers, self.items = round.answers, len(round.truth)
        self.crowd = crowd_of(self.answers)
        self.shared = shared_errors(self.answers, self.crowd)
        self.votes = [(one.item, one.set, one.label - 1) for one in round.labels.itertuples()]
        self.count = round.labels.groupby("item").size().to_dict()
        self.thin = {item: 1 / (1 + (k - 1) * self.shared) for item, k in self.count.items()}
        self.more, match = np.zeros((2, len(self.answers.worker))), np.full(self.items, np.inf)
        for _ in range(8):
            before, match = match, self.match(np.zeros(4))
            if np.abs(match - before).max() < 1e-3:
                break
            self.teach(match)
        voted = np.zeros((4, 2))
        for item, _, level in self.votes:
            voted[level] += np.array([1 - match[item], match[item]]) * (self.count[item] > 1)
        self.found = self.match(level_odds(voted, IS_MATCH))

    def teach(self, match: np.ndarray) -> None:
        self.more = np.zeros_like(self.more)
        for item, of_set, level in self.votes:
            held = match[item] if level < 2 else 1 - match[item]
            self.more[:, of_set] += np.array([held, 1]) * 0.3 * self.thin[item] * (self.count[item] > 1)

    def match(self, levels: np.ndarray) -> np.ndarray:
        right, asked = (sums.sum(axis=1) for sums in self.answers.sums)
        a, b = self.crowd.counts(self.answers, right + self.more[0], asked + self.more[1])
        rates = [[expit(logit(p) + t) for t in self.crowd.easier] for p in a / (a + b)]
        none, odds, beyond = (np.zeros((len(GAPS), self.items)) for _ in range(3))
        for g, gap in enumerate(GAPS):
            for item, of_set, level in self.votes:
                refused, found = (0.5 + (p - 0.5) * (1 - gap) for p in rates[of_set])
                at_none, at_match = (1 - refused, found) if level < 2 else (refused, 1 - found)
                none[g, item] += self.thin[item] * np.log(at_none)
                odds[g, item] += self.thin[item] * np.log(at_match / at_none)
                beyond[g, item] += self.thin[item] * levels[level]
        points = [(g, s) for g in range(len(GAPS)) for s in SHARES]
        fits = [(np.log(1 - s + s * np.exp(odds[g])) + none[g]).sum() - GAPS[g] / GAP_MEAN for g, s in points]
        grid = np.exp(np.array(fits) - max(fits))
        grid = np.where(grid < 1e-4, 0, grid) / grid[grid >= 1e-4].sum()
        each = [expit(logit(s) + odds[g] + beyond[g]) for g, s in points]
        return grid @ np.array(each)


@pytest.mark.parametrize("votes", [1, 3])
def test_probabilities_are_those_of_a_slow_reference(votes):
    round = drawn(2, items=96, votes=votes)
    assert certainty(2, items=96, votes=votes).rows.read() == pytest.approx(Slow(round).found, abs=2e-6)


def test_what_a_level_adds_is_its_share_of_the_votes_on_matches_by_that_on_other_pairs():
    # Of votes for a match, level 1 has 30 of 40 on matches and 10 of 20 on other pairs; 10 more are given to each.
    odds = level_odds(np.array([[10, 30], [10, 10], [0, 0], [0, 0]]), IS_MATCH)
    assert odds == pytest.approx([np.log((40 / 60) / (20 / 40)), np.log((20 / 60) / (20 / 40)), 0, 0])


@pytest.mark.slow
def test_lone_votes_are_right_as_often_as_is_said_and_not_so_without_the_sets_that_failed():
    gaps, without = [], []
    for seed in range(20):
        round = drawn(seed)
        said, right = said_and_right(round, certainty(seed))
        gaps.append(said.mean() - right.mean())
        without.append(said_and_right(round.without_failed)[0].mean() - right.mean())
    assert abs(np.mean(gaps)) < 0.03
    assert np.mean(without) > np.mean(gaps) + 0.02


def test_a_failed_set_lowers_the_votes_of_its_worker():
    round = drawn(3)
    who = round.labels["worker"].iloc[0]
    own = round.labels.loc[round.labels["worker"] == who, "item"].unique()
    more = round.with_set(who, right=0)
    before, after = (
        np.abs(certainty_of(one.votes, one.answers).rows.read() - 0.5)[own].mean() for one in (round, more)
    )
    assert after < before


def shuffled(round: Round) -> Round:
    """Return the same round with other numbers of sets and workers, and its votes in another order."""
    rng = np.random.default_rng(0)
    old = round.answers
    order, names = rng.permutation(len(old.worker)), rng.permutation(old.worker.max() + 1)
    mixed = rng.permutation(len(old.of_set))
    parts = [one[mixed] for one in (old.control, np.argsort(order)[old.of_set], old.side, old.right)]
    given = ControlAnswers(names[old.worker[order]], old.counted[order], *parts)
    labels = round.labels.assign(worker=names[round.labels["worker"]], set=np.argsort(order)[round.labels["set"]])
    return replace(round, labels=labels.sample(frac=1, random_state=1), answers=given)


@pytest.mark.parametrize("votes", [1, 2])
def test_neither_order_nor_the_size_of_batches_changes_anything(votes, monkeypatch):
    at_once = certainty(4, votes=votes)
    monkeypatch.setattr(sorted_votes, "BATCH", 50)
    other = shuffled(drawn(4, votes=votes))
    mixed = certainty_of(other.votes, other.answers)
    assert mixed.rows.read() == pytest.approx(at_once.rows.read(), abs=1.5e-6)
    assert mixed.figures == at_once.figures


def test_lone_votes_say_nothing_of_gap_levels_and_shared_errors():
    round = drawn(5)
    figures = certainty(5).figures
    weights = np.exp(-GAPS / GAP_MEAN)
    assert not any(figures["levels"])
    assert figures["gap"] == pytest.approx(GAPS @ weights / weights.sum(), abs=0.01)
    crowd = crowd_of(round.answers)
    pairs = [posterior.Pairs(round.votes, round.answers, IS_MATCH, shared) for shared in (0.0, 0.6)]
    one, other = (posterior.posterior_of(each, crowd, each.sample())[1].read() for each in pairs)
    assert one.tolist() == other.tolist()


@pytest.mark.slow
def test_more_votes_are_surer_and_right_as_often_as_is_said():
    means = []
    for votes in (1, 2, 3):
        rounds = [drawn(seed, votes=votes) for seed in range(8)]
        found = [said_and_right(round, certainty(seed, votes=votes)) for seed, round in enumerate(rounds)]
        means.append(np.mean([said.mean() for said, _ in found]))
        assert votes == 1 or abs(np.mean([said.mean() - right.mean() for said, right in found])) < 0.015
    assert means == sorted(means)


@pytest.mark.slow
def test_the_interval_of_a_round_holds():
    held = []
    for seed in range(100, 120):
        figures = certainty(seed).figures
        _, right = said_and_right(drawn(seed), certainty(seed))
        low, high = figures["right_low"] or 0, figures["right_high"] or 1
        held.append(low - 0.01 <= right.mean() <= high + 0.01)
    assert np.mean(held) >= 0.8


def test_reviews_at_random_correct_what_no_control_can_show():
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(20):
        said = rng.uniform(0.9, 0.99, 600)
        right = rng.random(600) < said - 0.1
        reviewed = rng.choice(600, 60, replace=False)
        correction, _ = correction_by(said[reviewed], right[reviewed])
        errors.append(corrected(said, correction).mean() - right.mean())
    assert abs(np.mean(errors)) < 0.02


def test_no_reviews_change_nothing_and_wrong_verdicts_lower_all():
    round, found = drawn(6), certainty(6)
    match = found.rows.read()
    assert found.right(match, match >= 0.5).tolist() == pytest.approx(np.maximum(match, 1 - match))
    reviewed = {item: bool(match[item] < 0.5) for item in range(0, 400, 10)}
    less = certainty_of(round.votes, round.answers, reviewed=reviewed)
    assert less.right(match, match >= 0.5).mean() < np.maximum(match, 1 - match).mean() - 0.1
    assert (less.figures["reviewed"], less.figures["reviewed_right"]) == (40, 0)


def test_votes_of_a_worker_who_failed_all_controls_argue_for_the_other_side():
    round = drawn(6).with_set(20, right=0, times=10)
    a, b = crowd_of(round.answers).counts(round.answers, *round.answers.totals)
    assert (a / (a + b))[-1] < 0.3


def test_votes_of_sets_that_are_not_known_are_refused():
    round = drawn(7)
    with pytest.raises(ValueError, match="not among those of the answers to controls"):
        certainty_of(read_votes(round.labels.assign(set=10_000), levels=(1, 2, 3, 4)), round.answers)


def test_the_probability_of_a_verdict_is_that_of_its_side():
    votes = as_votes(draw_crowd([0.9, 0.8, 0.7], items=60)[0])
    found = full_conclusion(votes, certain=True)
    match = found.certainty.rows.read()
    is_match = found.verdicts["level"] <= 2
    assert found.verdicts["probability"].tolist() == pytest.approx(np.where(is_match, match, 1 - match).tolist())


def test_tables_give_the_certainty_of_their_numbers():
    round = drawn(7)
    votes = as_votes(round.labels).assign(set=round.labels["set"].map("s{:04d}".format))
    given = round.answers
    known = pd.DataFrame(
        {
            "image": "k" + pd.Series(given.control).map("{:04d}".format),
            "caption": "k",
            "worker": given.worker[given.of_set],
            "control": np.where(given.side == 1, "positive", "negative"),
            "level": np.where(given.side == given.right, 1, 4),
            "set": pd.Series(given.of_set).map("s{:04d}".format),
            "counted": given.counted[given.of_set],
        }
    )
    found = full_conclusion(votes, certain=True, answers=known).certainty
    assert found.rows.read().tolist() == certainty(7).rows.read().tolist()
    assert found.figures["control_answers"] == certainty(7).figures["control_answers"]
