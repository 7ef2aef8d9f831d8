"""The replays of selection policies: which order they ask pairs in, and how many judgments it takes."""

import numpy as np
import pytest

from benchmarks.estimation.beds import bed_of, synthetic_bed
from benchmarks.estimation.guards import round_of
from benchmarks.selection.policies import Labelled, by_rank, calibrated, oracle, scheme

MATCHES = [{0, 1}, {3}]
SCORES = np.array([[9.0, 8, 7, 6, 5, 0], [9.0, 8, 7, 6, 5, 0]])


@pytest.fixture
def tiny():
    """Two queries with five items each, of which the first item of the first query is known to match."""
    bed = bed_of("tiny", {"words": SCORES}, ["words"], MATCHES, [{0}, set()], range(2))
    return [round_of(bed, 0)]


def test_the_oracle_needs_as_many_judgments_as_there_are_matches_to_find(tiny):
    pairs = Labelled.of(tiny)
    assert (len(pairs.codes), pairs.matches.sum()) == (9, 2)
    assert pairs.shares(oracle(tiny, 0)) == pytest.approx([1 / 9, 2 / 9, 2 / 9, 2 / 9, 2 / 9])


def test_queries_of_a_replay_share_their_items_and_no_two_places_a_code():
    bed = synthetic_bed(queries=60, items=120)
    queries = round_of(bed, 0).queries
    used = bed.items >= 0
    assert not used.all()
    np.testing.assert_array_equal((queries.codes & 0xFFFFFFFF)[used], bed.items[used])
    np.testing.assert_array_equal(queries.codes >> 32, np.indices(bed.items.shape)[0])
    assert len(np.unique(queries.codes)) == queries.codes.size
    assert not np.isin(queries.codes[~used] & 0xFFFFFFFF, bed.items).any()


def test_ranks_ask_the_first_places_first(tiny):
    """The matches are in the second and the fourth place, of nine pairs in the places 1 to 5."""
    half, *_, last = Labelled.of(tiny).shares(by_rank(tiny, 0))
    assert half in (pytest.approx(2 / 9), pytest.approx(3 / 9))
    assert last in (pytest.approx(6 / 9), pytest.approx(7 / 9))


def test_the_random_order_finds_matches_in_proportion():
    wholes = [round_of(synthetic_bed(queries=60, items=120), 0)]
    pairs = Labelled.of(wholes)
    shares = np.mean([pairs.shares(scheme(wholes, seed)) for seed in range(40)], axis=0)
    total = pairs.matches.sum()
    expected = [np.ceil(share * total) / (total + 1) for share in (0.5, 0.8, 0.9, 0.95, 1.0)]  # of order statistics
    assert shares == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize("policy", [scheme, by_rank, oracle])
def test_a_policy_asks_every_pair_once(policy, tiny):
    assert sorted(policy(tiny, 3)) == Labelled.of(tiny).codes.tolist()


def test_the_calibrated_order_asks_no_pair_twice_and_needs_less_than_the_random_one():
    wholes = [round_of(synthetic_bed(queries=150, items=200), 0)]
    pairs = Labelled.of(wholes)
    order = calibrated(0.1)(wholes, 0)
    assert len(np.unique(order)) == len(order)
    assert pairs.matches.sum() == pairs.matches[np.searchsorted(pairs.codes, order)].sum()
    assert (np.array(pairs.shares(order)[:4]) < np.array(pairs.shares(scheme(wholes, 0))[:4]) - 0.1).all()
