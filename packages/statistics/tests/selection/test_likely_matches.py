import numpy as np
import pytest

from counterpart_statistics.pair_codes import ids_in
from counterpart_statistics.selection.likely_matches import LikelyMatches

NAN = float("nan")


def pairs_of(likely, size):
    batch = likely.next_batch(size)
    return *(ids_in(codes)[1].tolist() for codes in (batch.asked, batch.audited)), batch.matches


def made_likely(probability, gains, opened=None):
    codes = np.arange(1, len(gains) + 1)  # image 0, captions 1, 2, …
    before = np.zeros(len(gains), bool) if opened is None else np.array(opened, bool)
    return LikelyMatches(codes, np.array(probability), np.array(gains), before)


def test_the_likeliest_pairs_come_first_and_judged_ones_are_opened_on_the_way():
    likely = made_likely([0.9, 0.8, 0.7, 0.6, 0.5], [NAN, 1, NAN, 0, NAN])
    assert pairs_of(likely, 1) == ([1], [], 0.9)
    assert pairs_of(likely, 2) == ([1, 3], [2], pytest.approx(1.6))
    assert pairs_of(likely, 3) == ([1, 3, 5], [2, 4], pytest.approx(2.1))
    assert pairs_of(likely, 9) == ([1, 3, 5], [2, 4], pytest.approx(2.1))


def test_what_was_opened_before_is_not_opened_again_and_ties_go_by_the_pair():
    likely = made_likely([0.9, 0.5, 0.5, 0.5], [1, NAN, 1, NAN], opened=[True, False, False, False])
    assert pairs_of(likely, 2) == ([2, 4], [3], pytest.approx(1.0))


def test_recall_counts_what_was_found_and_what_is_expected_of_the_rest():
    likely = made_likely([0.9, 0.8, 0.3, 0.1], [1, NAN, 0.5, NAN])
    assert (likely.found, likely.missing) == (2, pytest.approx(0.9))
    assert likely.recall == pytest.approx(2 / 2.9)
    assert made_likely([0.0], [0]).recall == 1
