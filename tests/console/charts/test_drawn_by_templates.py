"""Bars, and dots with their intervals, that templates draw."""

from math import nan

import pytest

from console.charts.inline_bars import GAP, StackedBar, split_bar, stacked
from console.charts.whiskers import panels_of
from counterpart_metrics.figures import Figure

FIGURES = {
    "a": {"R@1": Figure(0.5, 0.42, 0.58, 9), "R@5": Figure(0.9, 0.86, 0.94, 9)},
    "b": {"R@1": Figure(0.52, nan, nan, 9)},
}


def test_a_dot_and_its_interval_are_on_a_scale_that_holds_all_of_its_panel():
    first, second = panels_of(["R@1", "R@5"], FIGURES)
    assert (first.low, first.high) == pytest.approx((0.4, 0.6))
    assert (second.low, second.high) == pytest.approx((0.85, 0.95))
    (a, b), (alone,) = first.rows, second.rows
    assert (a.rank, a.start, a.at, a.end, a.interval) == (2, 10, 50, 90, "42.0–58.0")
    assert (b.rank, b.at, b.interval) == (1, 60, "")
    assert (alone.name, alone.rank, alone.at) == ("a", 1, 50)


def test_panels_can_share_a_scale():
    assert {(one.low, one.high) for one in panels_of(["R@1", "R@5"], FIGURES, one_scale=True)} == {(0.4, 0.95)}


def test_a_panel_without_width_gets_some():
    (panel,) = panels_of(["R@1"], {"a": {"R@1": Figure(0, nan, nan, 9)}})
    assert (panel.low, panel.high, panel.rows[0].at) == (0, 0.05, 0)


# Bars that templates draw


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
