"""Bars that templates draw."""

import pytest

from console.charts.inline_bars import GAP, StackedBar, split_bar, stacked


def test_the_parts_of_a_bar_are_its_shares_in_order():
    parts = [("done", "done", 3), ("open", "open", 0), ("late", "late", 1)]
    shares = [(one.kind, one.start, one.length) for one in split_bar(parts)]
    assert shares == [("done", 0, 75), ("open", 75, 0), ("late", 75, 25)]
    assert split_bar([("done", "done", 0)]) == []


def test_columns_are_side_by_side_and_their_parts_stacked():
    rects = stacked([StackedBar("first", {"ok": 3, "bad": 1}), StackedBar("second", {"ok": 2, "bad": 0})])
    assert [(one.kind, one.y, one.height, one.title) for one in rects] == [
        ("ok", 25, 75, "first"),
        ("bad", 0, 25, "first"),
        ("ok", 50, 50, "second"),
    ]
    assert [one.x for one in rects] == pytest.approx([50 * GAP / 2, 50 * GAP / 2, 50 + 50 * GAP / 2])


def test_the_upper_edge_can_be_given():
    (one,) = stacked([StackedBar("", {"ok": 0.5})], top=1)
    assert (one.y, one.height) == (50, 50)
