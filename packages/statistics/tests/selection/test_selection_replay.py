"""The steps of a replay over arrays: what is asked, and that nothing else is known."""

from itertools import islice, repeat

import numpy as np
import pytest

from benchmarks.estimation.beds import synthetic_bed
from counterpart_statistics.estimation import UNLISTED
from counterpart_statistics.selection.likely_matches import LikelyMatches
from counterpart_statistics.selection.selection_replay import knowing, selection_steps

DRAWN = tuple(map(str, range(3, 40)))


@pytest.fixture(scope="module")
def whole():
    return synthetic_bed(queries=120, items=300).whole(seed=1).drawing(DRAWN)


def test_each_step_knows_the_verdicts_of_what_was_asked_until_then_and_no_other(whole):
    queries = whole.queries
    seen = set()
    for number, step in enumerate(islice(selection_steps([whole], repeat(50)), 6)):
        (one,) = step.wholes
        assert len(step.asked) == (50 if number else queries.asked[whole.drawn].sum())
        assert not seen & set(step.asked.tolist())
        seen |= set(step.asked.tolist())
        expected = np.where(np.isin(queries.codes, list(seen)) | ~queries.asked, queries.gains, np.nan)
        np.testing.assert_array_equal(one.queries.gains, expected)
        assert one.opened.any() == bool(number)
        np.testing.assert_array_equal(one.audited, whole.drawn)
    assert one.opened[whole.drawn].any()  # the order comes to pairs of audited queries too
    assert one.opened[~whole.drawn].any()


def test_a_batch_is_the_one_that_likely_matches_name_by_what_is_known(whole):
    before, after = islice(selection_steps([whole], [40]), 2)
    batch = LikelyMatches.of(before.wholes).next_batch(40)
    assert after.asked.tolist() == batch.asked.tolist()
    opened = {*batch.asked.tolist(), *batch.audited.tolist()}
    assert set(after.wholes[0].queries.codes[after.wholes[0].opened].tolist()) == opened


def test_likely_matches_find_most_matches_long_before_a_random_order_does(whole):
    """A random order finds 90% of the matches after 90% of the judgments."""
    total = whole.queries.gains[whole.queries.asked].sum()
    asked = 0
    for step in selection_steps([whole], repeat(40)):
        asked += len(step.asked)
        if step.likely.found >= 0.9 * total:
            break
    assert asked < 0.75 * whole.queries.asked.sum()


def test_queries_of_a_replay_share_their_items_and_no_two_places_a_code():
    queries = synthetic_bed(queries=60, items=120).whole(0).queries
    used = (queries.ranks < UNLISTED).any(axis=0)
    assert not used.all()
    assert len(np.unique((queries.codes & 0xFFFFFFFF)[used])) <= 120
    assert len(np.unique(queries.codes)) == queries.codes.size


def test_steps_end_where_sizes_do_or_where_no_pair_is_left(whole):
    assert len(list(selection_steps([whole], []))) == 1
    assert len(list(selection_steps([whole], [10, 10]))) == 3
    *_, last = selection_steps([whole], repeat(1000))
    np.testing.assert_array_equal(last.wholes[0].queries.gains, whole.queries.gains)


def test_an_array_of_codes_says_what_is_known(whole):
    asked = whole.queries.codes[whole.queries.asked]
    (one,) = knowing([whole], asked[:7], asked[:3])
    assert (~np.isnan(one.queries.gains) & whole.queries.asked).sum() == 7
    assert one.opened.sum() == 3
    np.testing.assert_array_equal(knowing([whole], asked)[0].queries.gains, whole.queries.gains)
