"""The cards of open rounds on the home page."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Assignment
from annotation.work.standing import forecast_of, standing_of
from console.home import cards
from console.home.cards import METRIC, newest_result, round_cards
from crowd.posting.pauses import pause_round
from crowd.posting.publication import close_round
from evaluation.models import Run
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_round


def test_only_open_rounds_have_cards_the_newest_first(db):
    closed = make_round(name="closed")
    made = [make_round(closed.pool.collection, name) for name in ("first", "second")]
    make_round(closed.pool.collection, "draft", published=False)
    close_round(closed, actor="robin")
    assert [one.round for one in round_cards()] == made[::-1]


def test_a_card_has_progress_money_and_a_forecast(member, db):
    made = make_round(hits=9)
    for _ in range(5):
        answer_rightly(made)
    answer_wrongly(made)
    for hours, one in enumerate(Assignment.objects.all(), 1):
        Assignment.objects.filter(pk=one.pk).update(submitted_at=timezone.now() - timedelta(hours=hours))
    (card,) = round_cards()
    assert card.forecast.arrivals == forecast_of(made, standing_of(made)).arrivals == 6
    assert len(card.pictures) == 4
    text = member.get("/").text
    for shown in ("5 of 9", "$500.00", "$3.25"):
        assert shown in text, shown


def test_a_paused_round_is_marked_and_rounds_beyond_the_cards_are_behind_a_link(member, db, monkeypatch):
    monkeypatch.setattr(cards, "CARDS", 1)
    first = make_round(name="first")
    pause_round(make_round(first.pool.collection, "second"), actor="robin")
    page = member.get("/")
    assert ('data-state="paused"' in page.text, page.context["further"]) == (True, 1)


def test_without_an_open_round_the_page_is_not_live(member, db):
    assert "data-live" not in member.get("/").text
    assert member.get("/live/").json()["live"] is False


# What the home page says was found


@pytest.fixture
def scored(site):
    """Score models of the site's version: each with its values on the version and on the original matches."""

    def make(**models: tuple[float, float | None]) -> None:
        for name, (value, original) in models.items():
            run = Run.objects.create(collection=site.collection, model=name, sha256=name * 64)
            for direction in ("i2t", "t2i"):
                figures = {"value": value, "original": original, "queries": 8}
                run.scores.create(version=site.version, metric=METRIC, direction=direction, **figures)

    return make


def test_a_site_without_versions_has_no_result(db):
    assert newest_result() is None


def test_the_matches_are_compared_with_the_original_ones(site):
    site.version.manifest["sources"] = [
        {"source": "original", "images": 10, "captions": 40},
        {"source": "v1", "images": 50, "captions": 100},
    ]
    site.version.save()
    result = newest_result()
    assert result.times == 3  # 150 of 50
    assert [side.times for side in result.sides] == [5, 2.5]


def test_a_version_without_original_matches_or_scores_has_a_result_without_both(member, site):
    site.version.manifest["sources"] = [{"source": "v1", "images": 50, "captions": 100}]
    site.version.save()
    result = member.get("/").context["result"]
    assert (result.version, result.times, result.sides, result.leader) == (site.version, None, [], "")


@pytest.mark.parametrize(
    ("models", "leader", "before"),
    [
        ({"a": (0.6, 0.5), "b": (0.3, 0.4)}, "a", "a"),
        ({"a": (0.3, 0.5), "b": (0.6, 0.4)}, "b", "a"),
        # Scored by an earlier program, all or in part: nothing is known of the original matches.
        ({"a": (0.6, None), "b": (0.3, None)}, "a", ""),
        ({"a": (0.3, 0.5), "b": (0.6, None)}, "b", ""),
    ],
)
def test_the_leader_is_compared_with_that_on_the_original_captions(member, scored, models, leader, before):
    scored(**models)
    page = member.get("/")
    result = page.context["result"]
    assert (result.leader, result.before, result.score) == (leader, before, pytest.approx(0.6))
    assert f"{METRIC} 60.0%" in page.text
