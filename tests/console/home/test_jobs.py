from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from core import events
from core.models import Job
from tests.factories import make_collection, make_round

record = transaction.atomic(events.record)


@pytest.fixture
def job(db) -> Job:
    return Job.objects.create(
        title="Plan zebra", task="none", state="running", step="pooling", done=30, total=120, params={"round": "zebra"}
    )


def progress(client, job) -> dict:
    return client.get(f"/jobs/{job.pk}/progress/").json()


def test_progress_is_told_as_it_stands(member, job):
    told = progress(member, job)
    assert told["live"] is True
    assert "pooling" in told["html"]
    assert 'value="0.2500"' in told["html"]


def test_progress_is_never_kept_in_a_cache(member, job):
    assert "no-store" in member.get(f"/jobs/{job.pk}/progress/")["Cache-Control"]


def test_a_finished_job_leads_to_what_it_made(member, job):
    make_round(name="zebra")
    Job.objects.update(state="done", message="Round zebra is packed.", finished_at=timezone.now())
    told = progress(member, job)
    assert told["live"] is False
    assert "/rounds/zebra/" in told["html"]


def test_a_failed_job_tells_its_one_line(member, job):
    Job.objects.update(state="failed", message="3 pairs lack an image file.", finished_at=timezone.now())
    assert "3 pairs lack an image file." in member.get(f"/jobs/{job.pk}/").content.decode()


def test_what_a_job_was_asked_is_told_in_words(member, job):
    Job.objects.update(params={"offer": {"lifetime_days": 7, "top_workers": False, "countries": []}, "pilot": None})
    page = member.get(f"/jobs/{job.pk}/").text
    for told in ("<dt>lifetime days</dt><dd>7</dd>", "<dt>top workers</dt><dd>no</dd>", "<dt>pilot</dt><dd>–</dd>"):
        assert told in page


@pytest.mark.parametrize(("seconds", "told"), [(5, False), (8.5, True)])
def test_a_job_that_nobody_takes_up_says_how_to_start_a_worker(member, job, seconds, told):
    Job.objects.update(state="queued", heartbeat_at=timezone.now() - timedelta(seconds=seconds))
    assert ("celery -A config worker --beat" in progress(member, job)["html"]) is told


def test_a_job_behind_others_waits_for_them(member, job):
    waiting = Job.objects.create(title="next", task="none", heartbeat_at=timezone.now() - timedelta(minutes=1))
    told = progress(member, waiting)["html"]
    assert "Other jobs run first." in told
    assert "No worker" not in told


@pytest.mark.parametrize(("minutes", "told"), [(1, False), (3, True)])
def test_a_running_job_whose_worker_was_lost_says_so(member, job, minutes, told):
    Job.objects.update(state="running", heartbeat_at=timezone.now() - timedelta(minutes=minutes))
    assert ("It goes on where it was" in progress(member, job)["html"]) is told
    assert ("1 job waits: no Celery worker" in member.get("/").text) is told


def test_a_job_waits_for_no_job_whose_worker_was_lost(member, job):
    Job.objects.update(state="running", heartbeat_at=timezone.now() - timedelta(minutes=3))
    waiting = Job.objects.create(title="next", task="none", heartbeat_at=timezone.now() - timedelta(minutes=1))
    told = progress(member, waiting)["html"]
    assert ("Other jobs run first." in told, "No Celery worker is running" in told) == (False, True)


def test_a_running_job_is_asked_to_stop(researcher, job):
    researcher.post(f"/jobs/{job.pk}/cancel/")
    job.refresh_from_db()
    assert (job.state, job.cancel_requested) == ("running", True)
    assert "Stopping" in progress(researcher, job)["html"]


def test_cancelling_what_has_ended_changes_nothing(researcher, job):
    Job.objects.update(state="done", finished_at=timezone.now())
    answer = researcher.post(f"/jobs/{job.pk}/cancel/", follow=True)
    assert "has already ended" in answer.content.decode()
    job.refresh_from_db()
    assert job.state == "done"


def test_the_journal_is_narrowed_to_one_row(member, db):
    one, two = make_collection("one", images=1), make_collection("two", images=1)
    record("imported", one, actor="ada")
    record("imported", two, actor="ada")
    rows = member.get("/events/", {"subject": f"corpus.collection:{two.pk}"}).context["rows"]
    assert [event.subject for event in rows] == [f"corpus.collection:{two.pk}"]
