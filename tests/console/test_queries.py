"""Pages ask the database as often for many rows as for few."""

from collections.abc import Iterable
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from console import kept_figures
from console.rounds import overview
from core.models import Job
from tests.console.api.calls import caller_for
from tests.console.conftest import answer_rightly, answer_wrongly, late_on_platform
from tests.factories import (
    make_annotator,
    make_collection,
    make_pool,
    make_retrieval,
    make_round,
    make_sample,
    put_on_platform,
)


def fill(number: int) -> None:
    """One more row of everything that lists show."""
    collection = make_collection(f"zoo-{number}", images=8, pictures=True)
    sample = make_sample(collection, f"queries-{number}")
    retrieval = make_retrieval(make_annotator(f"annotator-{number}"), sample)
    make_pool(sample, [retrieval], f"pool-{number}")
    answer_wrongly(make_round(collection, f"round-{number}"))
    answer_rightly(make_round(collection, f"right-{number}"))
    Job.objects.create(title="work", task="none")
    late_on_platform(put_on_platform(make_round(collection, f"there-{number}")))


LISTS = ("/", "/workers/", "/collections/", "/rounds/",
         "/inbox/", "/activity/", "/go/?q=o")  # fmt: skip


def queries_of(client, paths: Iterable[str]) -> dict[str, int]:
    """How many queries each page takes when it is opened again."""
    counts = {}
    for path in paths:
        client.get(path)
        with CaptureQueriesContext(connection) as asked:
            assert client.get(path).status_code == 200
        counts[path] = len(asked)
    return counts


def test_lists_ask_no_more_for_more_rows(researcher):
    fill(1)
    few = queries_of(researcher, LISTS)
    fill(2)
    fill(3)
    many = queries_of(researcher, LISTS)
    few["/"] += 12  # three more cards of open rounds; there are six at most
    assert {path: (few[path], many[path]) for path in LISTS if many[path] > min(few[path], 53)} == {}


def test_lists_of_the_api_ask_no_more_for_more_rows(person):
    caller = caller_for(person)
    lists = ("/collections", "/samples", "/annotators", "/retrievals", "/pools", "/rounds", "/jobs")
    fill(1)
    few = queries_of(caller, lists)
    fill(2)
    fill(3)
    many = queries_of(caller, lists)
    assert {path: (few[path], many[path]) for path in lists if many[path] > few[path]} == {}


def test_a_round_asks_no_more_for_more_hits_and_workers(researcher):
    made = make_round(hits=4)
    for _ in range(4):
        answer_rightly(made)
    most = {"": 47, "live/": 30, "people/": 17, "hits/": 16, "hits/1/": 16}
    asked = queries_of(researcher, [f"/rounds/round-1/{part}" for part in most])
    assert {path: n for (path, n), limit in zip(asked.items(), most.values(), strict=True) if n > limit} == {}


def test_a_review_asks_no_more_for_more_pairs(researcher, django_assert_max_num_queries):
    assignment = answer_wrongly(make_round(make_collection(images=24), candidates=18))
    with django_assert_max_num_queries(26):
        assert researcher.get(f"/review/{assignment.pk}/").status_code == 200


# Figures that take long to count are kept for a while, and show their age


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


def test_a_page_does_not_wait_for_the_figures_of_many_answer_sets(member, db, monkeypatch):
    monkeypatch.setattr(overview, "MANY", 0)
    monkeypatch.setattr(kept_figures, "SLOW", -1.0)
    page = f"/rounds/{make_round()}/"
    assert member.get(page).context["counting"]
    assert not member.get(f"{page}?count").context["counting"]
    assert not member.get(page).context["counting"]
