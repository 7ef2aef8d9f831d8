"""What a round's page draws of its work over time, by hand and compared with a slow count."""

from datetime import UTC, datetime

import numpy as np
import pytest

from console.charts.inline_bars import Rect
from console.rounds.activity import FASTEST, LEAST_COLUMNS, MOST_COLUMNS, SLOWEST, activity_of, arrivals_in, speeds_in
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_round

NOON = datetime(2026, 11, 26, 12, tzinfo=UTC).timestamp()


def heights(rects: list[Rect], kind: str) -> dict[int, float]:
    """The height of each column's part of a kind, by the column's number."""
    width = 100 / LEAST_COLUMNS
    return {int(one.x // width): one.height for one in rects if one.kind == kind}


def test_submissions_are_counted_by_minute_and_outcome():
    times = np.array([NOON, NOON + 59, NOON + 60, NOON + 190])
    arrivals = arrivals_in(times, np.array(["accepted", "flagged", "accepted", "submitted"]))
    assert (arrivals.step, arrivals.most, arrivals.passed, arrivals.decided) == ("minute", 2, 2, 3)
    assert (arrivals.first.minute, arrivals.last.minute) == (0, LEAST_COLUMNS)
    assert heights(arrivals.submitted, "passed") == {0: 50, 1: 50}
    assert heights(arrivals.submitted, "held") == {0: 50}
    assert heights(arrivals.submitted, "sent") == {3: 50}
    assert heights(arrivals.rates, "passed") == {0: 50, 1: 100}
    assert arrivals.submitted[0].title == "Thu 26 Nov, 12:00: 2 submitted, 1 passed, 1 flagged or excluded"


def test_the_step_grows_with_the_time_so_that_columns_stay_few():
    for days in (0.01, 0.5, 3, 40, 900):
        times = NOON + np.linspace(0, days * 86_400, 50)
        arrivals = arrivals_in(times, np.full(50, "accepted"))
        assert 1 <= len(arrivals.rates) <= MOST_COLUMNS, days
        assert arrivals.passed == 50


def test_speeds_are_counted_in_half_octaves_as_one_by_one():
    seconds = np.random.default_rng(7).lognormal(2, 1.5, 400)
    speeds = speeds_in(seconds)
    width = 100 / 20
    slow = [0] * 20
    for one in seconds:
        bounded = min(max(one, FASTEST), SLOWEST * 0.999)
        slow[next(n for n in range(20) if bounded < FASTEST * 2 ** ((n + 1) / 2))] += 1
    shown = [0.0] * 20
    for rect in speeds.columns:
        shown[int(rect.x // width)] = rect.height
    assert shown == pytest.approx([100 * n / max(slow) for n in slow], abs=0.001)
    assert speeds.median == np.median(seconds)


def test_a_rounds_work_is_read_with_its_seconds_a_pair(db):
    made = make_round(hits=2)
    answer_rightly(made)
    answer_wrongly(made)
    activity = activity_of(made)
    assert (activity["arrivals"].passed, activity["arrivals"].decided, activity["arrivals"].pass_rate) == (1, 2, 0.5)
    assert activity["speeds"].median == 75  # 300 s for two candidates and two controls
