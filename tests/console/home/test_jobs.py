from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from core import events
from core.models import Job
from tests.factories import make_round

record = transaction.atomic(events.record)


@pytest.fixture
def job(db) -> Job:
    return Job.objects.create(
        title="Plan zebra", task="none", state="running", step="pooling", done=30, total=120, params={"round": "zebra"}
    )


def progress(client, job) -> dict:
    return client.get(f"/jobs/{job.pk}/progress/").json()


def test_progress_is_current_and_never_cached(member, job):
    answer = progress(member, job)
    assert answer["live"] is True
    assert "pooling" in answer["html"]
    assert 'value="0.2500"' in answer["html"]
    assert "no-store" in member.get(f"/jobs/{job.pk}/progress/")["Cache-Control"]


def test_a_finished_job_leads_to_its_outcome(member, job):
    make_round(name="zebra")
    Job.objects.update(state="done", message="Round zebra is packed.", finished_at=timezone.now())
    answer = progress(member, job)
    assert (answer["live"], "/rounds/zebra/" in answer["html"]) == (False, True)


@pytest.mark.parametrize(("seconds", "is_named"), [(5, False), (8.5, True)])
def test_a_job_that_no_worker_takes_up_says_how_to_start_one(member, job, seconds, is_named):
    Job.objects.update(state="queued", heartbeat_at=timezone.now() - timedelta(seconds=seconds))
    assert ("celery -A config" in progress(member, job)["html"]) is is_named


@pytest.mark.parametrize(("minutes", "is_lost"), [(1, False), (3, True)])
def test_a_job_waits_for_a_running_one_unless_its_worker_was_lost(member, job, minutes, is_lost):
    Job.objects.update(state="running", heartbeat_at=timezone.now() - timedelta(minutes=minutes))
    waiting = Job.objects.create(title="next", task="none", heartbeat_at=timezone.now() - timedelta(minutes=1))
    assert ("celery -A config" in progress(member, job)["html"]) is is_lost
    assert ("Other jobs run first." in progress(member, waiting)["html"]) is not is_lost
    assert ("/activity/?of=jobs" in [need.url for need in member.get("/").context["needs"]]) is is_lost


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


def test_a_job_says_how_long_the_last_ones_took(member, job):
    ended = timezone.now()
    Job.objects.create(title="b", task="none", state="done", created_at=ended - timedelta(minutes=4), finished_at=ended)
    assert "The last ones took 4.0 min." in progress(member, job)["html"]


def test_the_first_search_says_why_it_takes_longer(member, job):
    Job.objects.update(task="mitl.tasks.retrieve")
    assert "compiled once after installing" in progress(member, job)["html"]
