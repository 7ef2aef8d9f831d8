from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import Assignment
from console.home import views
from console.home.views import newest_result, round_cards
from core.models import Job
from corpus.models import Caption, Collection
from crowd.posting.pauses import pause_round
from crowd.posting.publication import close_round
from hits.models import Round
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_annotator, make_collection, make_round


def page(client) -> str:
    return client.get("/").content.decode()


def test_an_empty_site_says_what_it_is_and_a_researcher_begins_there(researcher, member, db):
    assert "Find the matches" in page(member)
    assert "Load the demo" in page(researcher)
    assert "Load the demo" not in page(member)


def test_the_first_collection_leads_to_a_plan(researcher, member, db):
    make_collection("zoo")
    assert step(researcher).url == "/plan/?collection=zoo"
    assert researcher.get(step(researcher).url).status_code == 200
    assert step(member) is None


def test_the_next_step_of_a_release_registers_rankings(researcher, site):
    assert step(researcher).url == "/collections/zoo/leaderboard/#register"


def test_an_old_failure_and_one_that_was_retried_no_longer_ask_for_attention(researcher):
    now = timezone.now()
    Job.objects.create(title="old", task="none", state="failed", finished_at=now - timedelta(days=3))
    for state in ("failed", "failed", "done"):
        Job.objects.create(title="Import zoo", task="none", state=state, finished_at=now)
    assert researcher.get("/").context["needs"] == []


def test_running_jobs_are_shown_with_their_progress(researcher):
    Job.objects.create(title="Plan zebra", task="none", state="running", done=1, total=4)
    assert 'value="0.2500"' in page(researcher)


def test_text_from_outside_is_escaped(researcher, site):
    Caption.objects.filter(collection=site.collection).update(text="<script>alert(1)</script>")
    Collection.objects.update(description="<b>bold</b>")
    text = researcher.get("/collections/zoo/").content.decode()
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "&lt;b&gt;bold" in text


def test_every_page_forbids_scripts_and_styles_from_elsewhere(researcher):
    assert "script-src 'self'; " in researcher.get("/").headers["Content-Security-Policy"] + "; "


@pytest.fixture
def judged(db) -> Round:
    """A finished round, a newer one that waits for a review, and no version."""
    collection = make_collection(images=8, pictures=True)
    make_annotator()
    done, opened = make_round(collection, "done"), make_round(collection, "open", hits=2)
    answer_rightly(done)
    answer_wrongly(opened)
    return opened


def step(client):
    return client.get("/").context["next_step"]


def test_a_release_is_suggested_of_a_finished_round_with_its_form_filled(releaser, judged):
    form = releaser.get(step(releaser).url).context["form"]
    assert (form["rounds"].value(), form["queries"].value()) == (["done"], "queries-zoo")


def test_no_release_is_suggested_of_a_round_that_waits_for_people_or_is_not_about_pairs(releaser, judged):
    Round.objects.filter(name="done").update(task="caption")
    assert step(releaser) is None


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
    monkeypatch.setattr(views, "CARDS", 1)
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
