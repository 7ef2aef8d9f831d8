"""Matches and recall of a round: the total over every possible audit, intervals, and a case worked by hand."""

from itertools import combinations, product

import numpy as np
import pytest

from counterpart_statistics.estimation import Side, round_recall

# 5 images and 4 captions are queries. ASKED (direction, image, caption): by images, by captions, some pairs by both.
RNG = np.random.default_rng(6)
MATCH = RNG.random((5, 4)) < 0.4
ASKED = RNG.random((2, 5, 4)) < 0.7
CHANCE = RNG.random((2, 5, 4))
OPENED = ASKED.any(axis=0) & (RNG.random((5, 4)) < 0.3)
DIRECTIONS = np.maximum(ASKED.sum(axis=0), 1)


def sides(audits, directions=DIRECTIONS):
    """The two sides where ``audits`` say which images, and which captions, are judged whole."""
    for direction, audited in enumerate(audits):
        p = CHANCE[direction]
        part = ASKED[direction] / directions
        expected = (part * np.where(OPENED, MATCH, p)).sum()
        off = (part * np.where(OPENED, 0, MATCH - p)).sum(axis=1 - direction)
        yield Side(off[list(audited)], len(off), expected)


def totals(directions=DIRECTIONS):
    audits = product(combinations(range(5), 3), combinations(range(4), 3))
    return [round_recall([*sides(one, directions)], 0).matches for one in audits]


def test_over_every_audit_the_matches_are_those_of_the_round_each_once():
    assert (DIRECTIONS[MATCH & ASKED.any(axis=0)] == 2).any()
    assert np.mean(totals()) == pytest.approx((MATCH & ASKED.any(axis=0)).sum(), abs=1e-12)


def test_the_sum_of_both_directions_counts_pairs_of_two_queries_twice():
    twice = np.mean(totals(np.ones((5, 4))))
    assert twice == pytest.approx((MATCH & ASKED).sum(), abs=1e-12)
    assert twice > (MATCH & ASKED.any(axis=0)).sum() + 1


def test_a_case_worked_by_hand():
    """4 of 16 queries are audited; 1, 0, 0 and 1 match is missing in them, with probabilities near 0: 8 are in all."""
    off = np.array([1.0, 0.0, 0.0, 1.0])
    found = round_recall([Side(off, 16, 30.0)], 30)
    scale = 4 * 3.0  # w (w - 1)
    squares = scale * 0.25 * np.ones(4)
    informative = ((squares**2).sum() + 0.02 * scale**2) / (squares.sum() + 0.02 * scale)
    variance = 4 / 3 * (squares.sum() + 2 * informative)
    reach = 3.182446 * np.sqrt(variance)
    spread = reach**2 / (8 + 3)
    assert (found.matches, found.value) == (38, pytest.approx(30 / 38))
    assert found.matches_low == 30 + max(np.floor(8 - reach), 0)
    assert found.matches_high == 30 + np.ceil(8 + spread / 2 + np.sqrt(8 * spread + spread**2 / 4))
    assert found.low == 30 / found.matches_high
    assert found.informative == 4


def test_an_audit_that_misses_no_match_does_not_say_that_all_are_found():
    found = round_recall([Side(np.zeros(150), 1000, 1000.0), Side(np.zeros(150), 1000, 400.0)], 1400)
    assert (found.value, found.high, found.informative) == (1.0, 1.0, 0.0)
    assert 0.95 < found.low < 0.99


def test_a_round_whose_queries_are_all_judged_is_counted():
    found = round_recall([Side(np.array([1.0, -0.5]), 2, 7.5)], 8)
    assert found.counted
    assert (found.matches_low, found.matches, found.matches_high, found.low) == (8, 8, 8, 1)


def test_no_more_matches_are_missing_than_pairs_without_a_verdict():
    side = Side(np.zeros(30), 1000, 100.0)
    assert round_recall([side], 95).matches_high > 100
    assert round_recall([side], 95, unjudged=3).matches_high == 98
    everything = round_recall([side], 95, unjudged=0)
    assert (everything.matches, everything.low, everything.counted) == (95, 1.0, True)


def test_a_round_without_matches_has_found_them_all():
    assert round_recall([Side(np.zeros(3), 3, 0.0)], 0).value == 1


def test_batches_stop_at_a_recall_whose_interval_starts_near_it():
    rest = {"found": 95, "queries": 1000, "expected": 97.0}
    narrow = round_recall([Side(np.zeros(900), rest["queries"], rest["expected"])], 95)
    wide = round_recall([Side(np.zeros(30), rest["queries"], rest["expected"])], 95)
    assert narrow.value == wide.value > 0.95
    assert narrow.low > 0.92 > wide.low
    assert (narrow.is_enough(), wide.is_enough(), narrow.is_enough(0.99)) == (True, False, False)
    assert wide.is_enough(lower=0.1)


def test_chances_of_inclusion_weigh_each_audited_query():
    off = np.array([0.5, -0.25, 1.0, 0.0])
    even = round_recall([Side(off, 10, 20.0)], 18)
    assert round_recall([Side(off, 10, 20.0, inclusion=np.full(4, 0.4))], 18) == even
    uneven = round_recall([Side(off, 10, 20.0, inclusion=[0.5, 0.5, 0.25, 1.0])], 18)
    assert uneven.matches == pytest.approx(20 + 2 * 0.5 - 2 * 0.25 + 4)


def test_a_direction_of_two_audited_queries_is_refused():
    with pytest.raises(ValueError, match="2 queries were audited"):
        round_recall([Side(np.zeros(2), 10, 3.0)], 1)
