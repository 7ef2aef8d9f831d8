"""What a round's page draws of its work over time, by hand and compared with a slow count."""

import re
from datetime import UTC, datetime

import numpy as np

from console.rounds.activity import FASTEST, MOST_COLUMNS, SLOWEST, activity_of, arrivals_in, speeds_in
from mitl.charts.drawing import Panel
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_round

NOON = datetime(2026, 11, 26, 12, tzinfo=UTC).timestamp()


def tips(panel: Panel) -> list[str]:
    """What the columns of a panel say under the pointer."""
    return re.findall("<title>(.*?)</title>", panel.area)


def test_submissions_are_counted_by_minute_and_outcome():
    times = np.array([NOON, NOON + 59, NOON + 60, NOON + 190])
    arrivals = arrivals_in(times, np.array(["accepted", "flagged", "accepted", "submitted"]))
    assert (arrivals["step"], arrivals["pass_rate"], arrivals["decided"]) == ("minute", 2 / 3, 3)
    (submitted,) = arrivals["chart"].panels
    first, again, *others = tips(submitted)
    assert first == again == "Thu 26 Nov, 12:00: 2 submitted, 1 passed, 1 flagged or excluded"
    assert [one.split(": ")[1] for one in others] == [
        "1 submitted, 1 passed, 0 flagged or excluded",
        "1 submitted, 0 passed, 0 flagged or excluded",
    ]


def test_the_step_grows_with_the_time_so_that_columns_stay_few():
    for days in (0.01, 0.5, 3, 40, 900):
        times = NOON + np.linspace(0, days * 86_400, 50)
        arrivals = arrivals_in(times, np.full(50, "accepted"))
        assert 1 <= len(tips(arrivals["chart"].panels[0])) <= MOST_COLUMNS, days
        assert (arrivals["pass_rate"], arrivals["decided"]) == (1, 50)


def test_speeds_are_counted_in_half_octaves_as_one_by_one():
    seconds = np.random.default_rng(7).lognormal(2, 1.5, 400)
    speeds = speeds_in(seconds)
    slow = [0] * 20
    for one in seconds:
        bounded = min(max(one, FASTEST), SLOWEST * 0.999)
        slow[next(n for n in range(20) if bounded < FASTEST * 2 ** ((n + 1) / 2))] += 1
    shown = [int(tip.rpartition(" ")[2]) for tip in tips(speeds["chart"].panels[0])]
    assert shown == [n for n in slow if n]
    assert speeds["median"] == np.median(seconds)


def test_a_rounds_work_is_read_with_its_seconds_a_pair(db):
    made = make_round(hits=2)
    answer_rightly(made)
    answer_wrongly(made)
    activity = activity_of(made)
    assert (activity["arrivals"]["decided"], activity["arrivals"]["pass_rate"]) == (2, 0.5)
    assert activity["speeds"]["median"] == 75  # 300 s for two candidates and two controls
