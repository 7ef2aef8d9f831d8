"""What opened pairs teach, on a world made by hand: six queries with the same three items, which are alike at first."""

import numpy as np
import pytest

from counterpart_statistics.estimation import expected_mean
from counterpart_statistics.pair_codes import pair_codes
from counterpart_statistics.selection.pooled_queries import PooledQueries, WholeQueries

NAN = float("nan")
QUERIES, ITEMS = np.indices((6, 3)) + 1
OPENED = (QUERIES < 6) & (ITEMS < 3)
MATCH, FULL = 0.3, 0.2


def world(monkeypatch, levels, *, effect, direction="i2t"):
    """The first query is judged whole, the items 1 and 2 of the next four were opened, the last one was asked
    nothing."""
    chances = np.broadcast_to([FULL, MATCH], (6, 3, 2))
    monkeypatch.setattr("counterpart_statistics.selection.pooled_queries.level_thresholds", lambda *_, **__: chances)
    monkeypatch.setattr("counterpart_statistics.selection.pooled_queries.query_effect", lambda *_: effect)
    sides = (QUERIES, ITEMS) if direction == "i2t" else (ITEMS, QUERIES)
    queries = PooledQueries(
        ("words",),
        ITEMS[None],
        np.zeros((1, 6, 3)),
        3,
        np.where(OPENED | (QUERIES == 1), levels, NAN),
        np.full((6, 3), NAN),
        pair_codes(*sides),
        tuple("abcdef"),
        np.arange(6),
    )
    place = np.array([0, -1, -1, -1, -1, -1])
    return WholeQueries("by-hand", direction, 1, queries, place, frozenset(["words"]), OPENED)


@pytest.mark.parametrize("direction", ["i2t", "t2i"])
def test_a_pair_becomes_likelier_where_its_item_matches_other_queries(monkeypatch, direction):
    """Item 1 matches wherever it was opened, item 2 nowhere. Item 3 was judged in the audited query alone, as no match,
    and informs about nothing: audited queries and others are treated alike."""
    whole = world(monkeypatch, np.where(ITEMS == 1, 1.0, 4.0), effect=0.0, direction=direction)
    popular, other, unopened = whole.after_opened[5]
    assert popular > 0.5
    assert other < 0.2
    assert unopened == MATCH
    np.testing.assert_allclose(whole.after_opened[:5], MATCH)


def test_matches_in_part_make_others_of_their_query_likelier_and_full_matches_less_likely(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "counterpart_statistics.selection.pooled_queries.expected_mean",
        lambda ranks, after, *given, **options: calls.append(after) or expected_mean(ranks, after, *given, **options),
    )
    assert world(monkeypatch, np.full((6, 3), 2.0), effect=1.5).proxy.any()
    (after,) = calls
    assert (after[:5, 2, 0] > MATCH).all()
    assert (after[:5, 2, 1] < FULL).all()
    np.testing.assert_array_equal(after[5], np.broadcast_to([MATCH, FULL], (3, 2)))  # items say nothing of others
