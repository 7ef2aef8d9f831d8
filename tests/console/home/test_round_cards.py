"""The cards of open rounds on the home page."""

from datetime import timedelta

from django.utils import timezone

from annotation.models import Assignment
from console.home import cards
from console.home.cards import newest_result, round_cards
from crowd.posting.pauses import pause_round
from crowd.posting.publication import close_round
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_round


def test_only_open_rounds_have_cards_the_newest_first(db):
    closed = make_round(name="closed")
    made = [make_round(closed.pool.collection, name) for name in ("first", "second")]
    make_round(closed.pool.collection, "draft", published=False)
    close_round(closed, actor="robin")
    assert [one["round"] for one in round_cards()] == made[::-1]


def test_a_card_has_progress_money_and_a_forecast(member, db):
    made = make_round(hits=9)
    for _ in range(5):
        answer_rightly(made)
    answer_wrongly(made)
    for hours, one in enumerate(Assignment.objects.all(), 1):
        Assignment.objects.filter(pk=one.pk).update(submitted_at=timezone.now() - timedelta(hours=hours))
    (card,) = round_cards()
    assert card["forecast"].low < card["forecast"].middle < card["forecast"].high
    assert len(card["pictures"]) == 4
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


def test_a_site_without_versions_has_no_result(db):
    assert newest_result() is None


def test_the_matches_are_compared_with_the_original_ones(member, site):
    site.version.manifest["sources"] = [{"source": "v1", "times_images": 5, "times_captions": 2.5}]
    site.version.save()
    text = member.get("/").text
    assert "×2.5</strong> as many captions" in text
    assert "×5.0</strong> as many images" in text


def test_a_version_without_original_matches_or_scores_has_a_result_without_both(member, site):
    site.version.manifest["sources"] = []
    site.version.save()
    page = member.get("/")
    assert page.context["result"]["ranking"] is None
    assert "A ranking needs two models" in page.text
