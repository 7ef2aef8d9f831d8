"""Buttons that start jobs, pressed twice at the same moment."""

import pytest
from django.contrib.auth.models import User

from annotation.models import WorkerIdentity
from core.models import Job
from core.work.jobs import open_once
from crowd import channels
from crowd.messages import write_once
from crowd.models import Message
from tests.at_once import at_once
from tests.crowd.fakes import FakePlatform
from tests.factories import make_round, make_worker


@pytest.fixture
def robin(transactional_db) -> User:
    return User.objects.create_user(username="robin")


def test_pressed_at_the_same_moment_one_job_is_started(robin, monkeypatch):
    monkeypatch.setattr("core.work.jobs.send", lambda job: None)
    made = make_round()
    jobs = at_once(*[lambda: open_once("Sync", "none", {"round": made.name}, lock=made, by=robin)] * 4)
    assert (len({job.pk for job in jobs}), Job.objects.count()) == (1, 1)


def test_a_message_sent_at_the_same_moment_goes_out_once(transactional_db, monkeypatch):
    fake = FakePlatform()
    monkeypatch.setitem(channels.CHANNELS, "mturk", fake)
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id="A1")
    at_once(*[lambda: write_once(worker, subject="Thank you", text="It helped.", by="robin")] * 4)
    assert (Message.objects.count(), len(fake.calls)) == (1, 1)
