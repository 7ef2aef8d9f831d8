"""Dots with their intervals that templates draw."""

from math import nan

import pytest

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
