"""The order of likely matches, and what it makes of recall over both directions of a round."""

from dataclasses import replace
from itertools import islice, repeat

import numpy as np
import pytest

from counterpart_statistics.pair_codes import ids_in
from counterpart_statistics.selection.drawn_votes import matches_in
from counterpart_statistics.selection.likely_matches import LikelyMatches, recall_of, sides_of
from counterpart_statistics.selection.selection_replay import selection_steps
from round_worlds import drawing, synthetic_round

NAN = float("nan")


@pytest.fixture(scope="module")
def wholes():
    return drawing(synthetic_round(), 40)


@pytest.fixture(scope="module")
def steps(wholes):
    return list(islice(selection_steps(wholes, repeat(500)), 6))


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


def slow_side(whole, other):
    """Pair by pair: (off of each audited query, expected)."""
    theirs = set(other.queries.codes[other.queries.asked].tolist())
    off, expected = [], 0.0
    for query, row in enumerate(whole.queries.codes.tolist()):
        sum_off = 0.0
        for place, code in enumerate(row):
            if whole.queries.asked[query, place]:
                part = 0.5 if code in theirs else 1.0
                match = float(whole.queries.gains[query, place] > 0)
                z = match if whole.opened[query, place] else whole.after_opened[query, place]
                expected += part * z
                sum_off += part * (match - z)
        if whole.audited[query]:
            off.append(sum_off)
    return off, expected


def test_sides_are_those_of_a_slow_count_before_and_after_batches(steps):
    for step in (steps[0], steps[2]):
        for side, whole, other in zip(sides_of(step.wholes), step.wholes, step.wholes[::-1], strict=True):
            off, expected = slow_side(whole, other)
            np.testing.assert_allclose(side.off, off, atol=1e-12)
            assert side.expected == pytest.approx(expected)
            assert side.queries == len(whole.queries.keys)


def test_matches_of_pairs_of_both_directions_are_those_of_the_whole_round_where_all_is_judged(wholes):
    everything = [whole.drawing(whole.queries.keys) for whole in wholes]
    found = recall_of(everything)
    assert found.counted
    assert found.matches == found.matches_low == len(matches_in(wholes))
    one, other = (set(whole.queries.codes[whole.matches].tolist()) for whole in wholes)
    both = sum(side.expected + np.sum(side.off) for side in sides_of(everything, of_both=True))
    assert both == pytest.approx(len(one & other))
    assert both > 50


def test_labels_of_an_audited_query_do_not_teach_its_own_probabilities(steps, monkeypatch):
    """Those to which the order has come correct them, in audited queries and others alike. Of the rest only a trace
    arrives, by what other queries are off on the same items."""
    monkeypatch.setattr("counterpart_statistics.selection.pooled_queries.query_effect", lambda *_: 1.0)
    for step, trace in ((steps[0], 0.0), (steps[2], 0.01)):
        for whole in step.wholes:
            query = np.flatnonzero(whole.audited)[3]
            queries = whole.queries
            turned = queries.levels.copy()
            unopened = queries.asked[query] & ~whole.opened[query]
            turned[query, unopened] = 5 - turned[query, unopened]
            other = replace(whole, queries=replace(queries, levels=turned))
            np.testing.assert_array_equal(other.probability[query], whole.probability[query])
            np.testing.assert_allclose(other.after_opened[query], replace(whole).after_opened[query], atol=trace)
            assert (other.probability != whole.probability).any()


def test_the_estimate_follows_the_real_recall_where_the_sum_of_probabilities_did_not(steps, wholes):
    total = len(matches_in(wholes))
    for step in steps[1:]:
        likely = step.likely
        assert likely.recall.low <= likely.found / total <= likely.recall.high
    summed = [step.likely.probability[np.isnan(step.likely.gains)].sum() for step in steps]
    modelled = [step.likely.found / (step.likely.found + rest) for step, rest in zip(steps, summed, strict=True)]
    off = [abs(step.likely.recall.value - step.likely.found / total) for step in steps]
    summed_off = [abs(one - step.likely.found / total) for one, step in zip(modelled, steps, strict=True)]
    assert np.mean(off) < 0.03 < max(summed_off)
    assert np.mean(off) < np.mean(summed_off)


def test_a_round_says_what_is_found_and_when_that_is_enough(steps):
    one = steps[1].likely
    recall = one.recall
    assert one.said == (
        f"About {recall.value:.0%} of the matches are found (95%: {recall.low:.0%} to {recall.high:.0%}): "
        f"{one.found:,} of about {recall.matches:,.0f}, estimated from 80 audited queries."
    )
    assert one.enough == ""
    wished = replace(one, stop_recall=0.1)
    assert wished.enough == f"Enough: about {recall.value:.0%} found; the 95% interval starts at {recall.low:.0%}."
    rest = recall.matches_high - recall.found
    assert replace(one, missed=0).said == (
        f"No audited query misses a match; up to {rest:,.0f} matches may still be missing."
    )


def test_two_audited_queries_of_a_direction_give_no_recall(wholes):
    likely = LikelyMatches.of([wholes[0].first(2), wholes[1]])
    assert (likely.recall, likely.enough) == (None, "")
    assert likely.said == "Recall is estimated from 3 audited queries of each direction on."
