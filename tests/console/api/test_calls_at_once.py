"""Calls with one key at the same moment, and a site that is killed in the middle of one."""

import json
import os
import signal
import subprocess
import sys
from threading import Event

import pytest
from django.db import connection

from console.home import resources
from core.models import Job
from integrations.models import KeptAnswer
from tests.at_once import at_once
from tests.console.api.calls import API, Caller, caller_of
from tests.factories import make_annotator, make_collection

pytestmark = [pytest.mark.service, pytest.mark.django_db(transaction=True)]
BODY = {
    "round": "next",
    "collection": "zoo",
    "annotators": ["overlap"],
    "images": 2,
    "captions": 2,
    "top_k": 2,
    "control_depth": 3,
}


@pytest.fixture
def caller(transactional_db, monkeypatch) -> Caller:
    if connection.vendor == "sqlite":
        pytest.skip("needs PostgreSQL")
    monkeypatch.setattr("core.work.jobs.send", lambda job: None)  # the jobs wait
    make_collection(images=8)
    make_annotator()
    return caller_of("researcher")


def test_two_calls_with_one_key_make_one_job(caller):
    calls = [lambda: caller.post("/rounds", BODY, key="one")] * 4
    answers = at_once(*calls)
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert Job.objects.count() == 1
    assert sum("Idempotent-Replayed" in answer for answer in answers) == 3


def test_a_call_that_is_still_running_is_not_waited_for_long(caller, monkeypatch):
    monkeypatch.setattr("console.api.idempotency.PATIENCE", "200ms")
    job = Job.objects.create(title="long work", task="none")
    cancelling, done, cancel = Event(), Event(), resources.cancel

    def slowly(*args, **kwargs):
        cancelling.set()
        assert done.wait(30)
        return cancel(*args, **kwargs)

    monkeypatch.setattr(resources, "cancel", slowly)

    def second():
        assert cancelling.wait(30)
        try:
            return caller.post(f"/jobs/{job.pk}/cancel", key="one")
        finally:
            done.set()

    first, refused = at_once(lambda: caller.post(f"/jobs/{job.pk}/cancel", key="one"), second)
    assert first.status_code == 202
    assert refused.status_code == 409
    assert "still running" in refused.json()["detail"]
    assert refused["Retry-After"] == "2"


def killed(caller: Caller, moment: str) -> None:
    """Make the call in a process of its own, which is killed at this moment."""
    database = f"{os.environ['DATABASE_URL'].rsplit('/', 1)[0]}/{connection.settings_dict['NAME']}"
    command = [sys.executable, "-m", "tests.console.api.killed_call"]
    outcome = subprocess.run(
        [*command, moment, f"{API}/rounds", caller.text, "one", json.dumps(BODY)],
        env=os.environ | {"DATABASE_URL": database},
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == -signal.SIGKILL, outcome.stdout + outcome.stderr


def test_a_call_whose_site_was_killed_before_its_end_is_made_by_the_next(caller):
    killed(caller, "before")
    assert (Job.objects.count(), KeptAnswer.objects.count()) == (0, 0)
    answer = caller.post("/rounds", BODY, key="one")
    assert answer.status_code == 202
    assert "Idempotent-Replayed" not in answer
    assert Job.objects.count() == 1


def test_a_call_whose_site_was_killed_before_it_answered_gets_its_answer_again(caller):
    killed(caller, "after")
    (job,) = Job.objects.all()
    answer = caller.post("/rounds", BODY, key="one")
    assert answer["Idempotent-Replayed"] == "true"
    assert answer.json()["id"] == str(job.pk)
    assert Job.objects.count() == 1
