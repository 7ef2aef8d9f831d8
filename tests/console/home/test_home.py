from datetime import timedelta

import pytest
from django.utils import timezone

from console.home.stations import stations
from core.models import Job
from corpus.models import Caption, Collection
from crowd.posting.publication import close_round
from hits.models import Round
from mitl.models import Pool
from mitl.pooling import pool_sample
from tests.console.conftest import answer_rightly, answer_wrongly
from tests.factories import make_annotator, make_collection, make_pool, make_round, make_sample


def page(client) -> str:
    return client.get("/").content.decode()


def test_every_next_step_leads_to_an_existing_page(researcher, member, db, settings):
    settings.CELERY_TASK_ALWAYS_EAGER = False
    seen = []
    for fill in (make_collection, make_annotator, make_a_pool, make_draft, None):
        step = researcher.get("/").context["next_step"]
        seen.append((step.station.title, step.command.split()[2]))
        assert researcher.get(step.url).status_code == 200
        assert step.command in page(researcher)
        assert step.command not in page(member)  # another role takes the step
        if fill:
            fill()
    assert seen == [
        ("Collections", "demo_collection"),
        ("Annotators", "add_annotator"),
        ("Pools", "plan_round"),
        ("Rounds", "pack"),
        ("Judgments", "simulate"),
    ]


def test_the_next_step_of_a_release_registers_rankings(researcher, site):
    next_step = step(researcher)
    assert next_step.command == "python manage.py evaluate --version v1 --rankings FILE"
    assert next_step.url == "/collections/zoo/leaderboard/#register"


def test_every_station_shows_its_rows(researcher, site):
    stations = researcher.get("/pipeline/").context["stations"]
    shown = {station.title: (station.count, bool(station.rows)) for station in stations}
    assert shown.pop("Scores") == (0, False)
    assert all(rows for _, rows in shown.values())
    assert shown["Judgments"][0] == 8


def test_a_pool_that_a_round_about_images_made_for_itself_is_in_no_list(researcher, site):
    made = pool_sample(site.pool.sample, actor="test")
    (pools,) = [station for station in stations() if station.title == "Pools"]
    assert pools.count == Pool.objects.count() - 1
    listed = [row.label for row in pools.rows], [row.name for row in researcher.get("/pools/").context["rows"]]
    assert all("pool-draft" in names and made.name not in names for names in listed)
    assert researcher.get(f"/pools/{made.name}/").status_code == 200


def make_a_pool():
    make_pool(make_sample(Collection.objects.get()))


def make_draft():
    make_round(make_collection("other"), published=False)


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
    assert step(releaser).command == "python manage.py release v1 --collection zoo --queries queries-zoo --rounds done"
    form = releaser.get(step(releaser).url).context["form"]
    assert (form["rounds"].value(), form["queries"].value()) == (["done"], "queries-zoo")


def test_no_release_is_suggested_of_a_round_that_waits_for_people_or_is_not_about_pairs(releaser, judged):
    Round.objects.filter(name="done").update(task="caption")
    assert step(releaser) is None


def test_a_closed_round_with_an_empty_seat_can_only_be_released_as_unfinished(releaser, judged):
    close_round(judged, actor="robin")
    judged.hits.first().assignments.update(state="accepted")
    assert step(releaser).command.endswith("--rounds open --partial")
