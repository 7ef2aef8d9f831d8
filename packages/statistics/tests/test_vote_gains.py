import doctest
from itertools import product

import numpy as np
import pytest
from scipy.special import logit

from counterpart_statistics import vote_gains
from counterpart_statistics.vote_gains import best_order, match_posterior, vote_rates, wrong_after

CROWD = {"mean": 0.8, "easier": [logit(0.9) - logit(0.8), 0.0], "gap": 0.0, "shared": 0.0}
"""Matches are found by 0.8 of the votes, other pairs refused by 0.9."""


def test_the_examples_in_the_docstrings_run():
    assert doctest.testmod(vote_gains).failed == 0


def test_rates_on_candidates_are_nearer_to_one_half_by_the_gap():
    assert vote_rates(CROWD) == pytest.approx((0.8, 0.9))
    assert vote_rates({**CROWD, "gap": 0.1}) == pytest.approx((0.5 + 0.3 * 0.9, 0.5 + 0.4 * 0.9))


def test_a_vote_corrects_where_it_turns_the_likelier_side():
    # A yes turns 0.4 to 0.32 against 0.06; a no leaves 0.08 against 0.54. Of the 0.4 wrong before, 0.08 + 0.06 stay.
    assert wrong_after([0.4], 1, figures=CROWD, lead=None) == pytest.approx([0.14])


def test_a_vote_that_turns_nothing_corrects_nothing():
    assert wrong_after([0.02], 1, figures=CROWD, lead=None) == pytest.approx([0.02])


def test_under_majority_one_vote_against_a_lone_yes_makes_a_tie_which_does_not_match():
    # A match gets a no with 0.2, and is lost; another pair gets a yes with 0.1, and stays wrong.
    assert wrong_after([0.9], 1, figures=CROWD, lead=[1]) == pytest.approx([0.9 * 0.2 + 0.1 * 0.1])
    assert wrong_after([0.9], 1, figures=CROWD, lead=[1], tie_is_match=True) == pytest.approx([0.1])


@pytest.mark.parametrize("votes", [1, 2, 3])
@pytest.mark.parametrize("lead", [None, -1, 0, 2])
def test_wrong_verdicts_are_those_of_every_outcome_written_out(votes, lead):
    """The slow reference goes through every sequence of votes on a match and on another pair."""
    chance = 0.35
    figures = {"mean": 0.8, "easier": [logit(0.7) - logit(0.8), 0.0], "gap": 0.0, "shared": 1 / (2 + votes)}
    # After 3 votes, errors are shared so far that each counts half: the logarithm of its odds is halved.
    found, refused = (np.sqrt(rate) / (np.sqrt(rate) + np.sqrt(1 - rate)) for rate in (0.8, 0.7))
    wrong = 0.0
    for outcome in product([True, False], repeat=votes):
        if_match = chance * np.prod([found if yes else 1 - found for yes in outcome])
        if_none = (1 - chance) * np.prod([1 - refused if yes else refused for yes in outcome])
        # Whoever decides by probability sees the number of yes alone, which decides here too: the rates are equal.
        says_match = if_match > if_none if lead is None else lead + 2 * sum(outcome) - votes > 0
        wrong += if_none if says_match else if_match
    given = None if lead is None else [lead]
    assert wrong_after([chance], votes, figures=figures, given=[3], lead=given) == pytest.approx([wrong])


def test_pairs_with_fewer_votes_are_corrected_more_where_errors_are_shared():
    shared = {**CROWD, "shared": 0.3}
    order = best_order(np.full(2, 0.6), np.ones(2, bool), {1: 1}, figures=shared, given=np.array([4, 1]), lead=None)
    assert order.places == [1]


def test_the_probability_after_votes_by_hand():
    """0.2 before, yes by workers who find 0.9 of the matches and refuse 0.8 of the others: 0.18 to 0.16."""
    assert match_posterior(0.2, 1, 0, 0.9, 0.8) == pytest.approx(0.18 / (0.18 + 0.16))
    assert match_posterior(0.2, 0, 0, 0.9, 0.8) == pytest.approx(0.2)
    assert match_posterior(0.2, 0, 1, 0.9, 0.8) == pytest.approx(0.02 / (0.02 + 0.64))


@pytest.mark.parametrize(("yes", "no"), [(0, 1), (2, 1), (1, 3)])
def test_the_probability_after_votes_is_the_share_of_matches_among_all_ways_to_get_them(yes, no):
    """An independent witness: drawn pairs with their votes, of which those with these votes are kept."""
    p, found, refused = 0.3, 0.8, 0.9
    weights = {True: 0.0, False: 0.0}
    for is_match, *votes in product((True, False), *[(True, False)] * (yes + no)):
        if sum(votes) == yes:
            weight = p if is_match else 1 - p
            for vote in votes:
                says = found if is_match else 1 - refused
                weight *= says if vote else 1 - says
            weights[is_match] += weight
    expected = weights[True] / sum(weights.values())
    assert match_posterior(p, yes, no, found, refused) == pytest.approx(expected)
