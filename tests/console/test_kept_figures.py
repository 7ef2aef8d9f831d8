"""Figures that take long to count are kept for a while, and show their age."""

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


@pytest.mark.parametrize(("seconds", "message"), [(0.9, [1, 2]), (1.1, [1, 1])])
def test_what_takes_over_a_second_to_count_is_kept_for_a_while(monkeypatch, seconds, message):
    monkeypatch.setattr(kept_figures, "SLOW", 1.0)
    monkeypatch.setattr(kept_figures, "perf_counter", iter([0.0, seconds] * 2).__next__)
    counts = iter([1, 2])
    kept = [kept_figures.kept_if_slow(f"count-of-{seconds}", lambda: next(counts)) for _ in range(2)]
    assert [one.figures for one in kept] == message


@pytest.mark.parametrize(("minutes", "message"), [(0, False), (0.5, False), (5, True)])
def test_a_round_shows_the_age_of_its_figures_after_a_minute(member, db, monkeypatch, minutes, message):
    made = make_round()
    key = f"figures-of-round:{made.pk}"
    monkeypatch.setattr(kept_figures, "SLOW", -1.0)
    monkeypatch.setattr(kept_figures, "perf_counter", iter([0, 60] * 9).__next__)
    member.get(f"/rounds/{made}/")
    kept = cache.get(key)
    cache.set(key, kept_figures.Kept(kept.figures, timezone.now() - timedelta(minutes=minutes), 60))
    for shown in (member.get(f"/rounds/{made}/").text, member.get(f"/rounds/{made}/live/").json()["html"]):
        assert ("As of" in shown) is message
        assert ("these figures take long" in shown) is message


def test_figures_are_counted_again_after_twenty_times_as_long_as_they_took(monkeypatch):
    monkeypatch.setattr(kept_figures, "SLOW", 1.0)
    for age, message in ((19, "old"), (21, "new")):
        cache.set("figures", kept_figures.Kept("old", timezone.now() - timedelta(seconds=age), 1.0))
        assert kept_figures.kept_if_slow("figures", lambda: "new").figures == message


def test_a_request_counts_one_of_many_large_figures_and_shows_others_as_they_were(monkeypatch):
    monkeypatch.setattr(kept_figures, "SLOW", -1.0)
    long_ago = timezone.now() - timedelta(minutes=5)
    cache.set("c", kept_figures.Kept("old", long_ago, 1.0))

    def counted(turn, sets=kept_figures.MANY):
        found = [turn.kept(key, lambda: "new", answer_sets=sets) for key in "abc"]
        return [one and one.figures for one in found]

    assert counted(kept_figures.CountingTurn()) == [None, None, "old"]
    assert counted(kept_figures.CountingTurn(turn=True)) == ["new", None, "old"]
    cache.delete("a")
    assert counted(kept_figures.CountingTurn(at_once=True)) == ["new", "new", "new"]
    cache.clear()
    assert counted(kept_figures.CountingTurn(), sets=kept_figures.MANY - 1) == ["new", "new", "new"]
