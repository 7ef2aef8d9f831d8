from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from annotation.models import Assignment
from annotation.work.standing import forecast_of, standing_of, waits
from hits.models import Round
from tests.annotation.cast import answer
from tests.factories import make_round, make_worker


def arrive(made: Round, *, hours: list[float]) -> None:
    """Have a HIT answered at each of these numbers of hours before now."""
    for hit, ago in zip(made.hits.all(), hours, strict=False):
        done = answer(hit, 1, 1)
        Assignment.objects.filter(pk=done.pk).update(submitted_at=timezone.now() - timedelta(hours=ago))


def test_an_even_pace_goes_on(db):
    made = make_round(hits=11)
    arrive(made, hours=[5, 4, 3, 2, 1])
    found = forecast_of(made, standing_of(made))
    left = (found.middle - timezone.now()).total_seconds() / 3600
    # Four came in the five hours since the first, six are missing; the median of the F distribution is near 1.
    assert left == pytest.approx(6 * 5 / 4, rel=0.15)
    assert found.low < found.middle < found.high


def test_visitors_without_a_hit_are_not_arrivals(db):
    made = make_round(hits=11)
    arrive(made, hours=[5, 4, 3, 2, 1])
    before, now = forecast_of(made, standing_of(made)), timezone.now()
    without = {"hit": made.hits.first(), "has_hit": False, "state": "flagged"}
    Assignment.objects.create(**without, worker=make_worker(), deadline=now, submitted_at=now - timedelta(minutes=5))
    assert abs(forecast_of(made, standing_of(made)).middle - before.middle) < timedelta(minutes=1)


@pytest.mark.parametrize("hours", [[5, 4, 3, 2], [80, 79, 78, 77, 76, 2]])
def test_too_few_recent_arrivals_make_no_forecast(db, hours):
    made = make_round(hits=11)
    arrive(made, hours=hours)
    assert forecast_of(made, standing_of(made)) is None


def test_the_last_missing_answer_has_a_forecast(db):
    made = make_round(hits=6)
    arrive(made, hours=[5, 4, 3, 2, 1])
    assert forecast_of(made, standing_of(made)).middle > timezone.now()
    answer(made.hits.last(), 1, 1)
    assert forecast_of(made, standing_of(made)) is None


def test_an_end_further_away_than_any_date_has_no_forecast(db, monkeypatch):
    made = make_round(hits=11)
    arrive(made, hours=[5, 4, 3, 2, 1])
    monkeypatch.setattr("annotation.work.standing.waits", lambda *_: [1e15] * 3)
    assert forecast_of(made, standing_of(made)) is None


def test_the_interval_holds_for_four_of_five_steady_rounds():
    rng, held = np.random.default_rng(0), []
    for _ in range(400):
        times = rng.exponential(1, 400).cumsum()
        seen = times[times < 60]
        low, _, high = waits(np.histogram(seen, 12, (0, 60))[0], 60, 100)
        held.append(low < times[len(seen) + 99] - 60 < high)
    assert np.mean(held) == pytest.approx(0.8, abs=0.05)


def test_people_who_come_in_bursts_widen_the_interval():
    even, bursts = waits([4] * 12, 60, 100), waits([12, 0, 0] * 4, 60, 100)
    assert even[1] == pytest.approx(bursts[1], rel=0.1)
    assert bursts[2] - bursts[0] > 1.5 * (even[2] - even[0])
