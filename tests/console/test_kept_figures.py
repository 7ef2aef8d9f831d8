"""Figures that take long to count are kept for a while, and tell their age."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from console import kept_figures
from tests.factories import make_round


@pytest.fixture(autouse=True)
def nothing_kept():
    """Figures are kept by the key of their round, which another test may have too."""
    cache.clear()
    yield
    cache.clear()


@pytest.mark.parametrize(("seconds", "told"), [(0.9, [1, 2]), (1.1, [1, 1])])
def test_what_takes_over_a_second_to_count_is_kept_for_a_while(monkeypatch, seconds, told):
    monkeypatch.setattr(kept_figures, "SLOW", 1.0)
    monkeypatch.setattr(kept_figures, "perf_counter", iter([0.0, seconds] * 2).__next__)
    counts = iter([1, 2])
    kept = [kept_figures.kept_if_slow(f"count-of-{seconds}", lambda: next(counts)) for _ in range(2)]
    assert [one.figures for one in kept] == told


@pytest.mark.parametrize(("minutes", "told"), [(0, False), (0.5, False), (5, True)])
def test_a_round_tells_the_age_of_its_figures_after_a_minute(member, db, monkeypatch, minutes, told):
    made = make_round()
    key = f"figures-of-round:{made.pk}"
    monkeypatch.setattr(kept_figures, "SLOW", -1.0)
    monkeypatch.setattr(kept_figures, "perf_counter", iter([0, 60] * 9).__next__)
    member.get(f"/rounds/{made}/")
    kept = cache.get(key)
    cache.set(key, kept_figures.Kept(kept.figures, timezone.now() - timedelta(minutes=minutes)))
    for shown in (member.get(f"/rounds/{made}/").text, member.get(f"/rounds/{made}/live/").json()["html"]):
        assert ("As of" in shown) is told
        assert ("5\xa0minutes ago</time>; these figures take long" in shown) is told
