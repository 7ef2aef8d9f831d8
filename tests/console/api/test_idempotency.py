"""A call is made once for each Idempotency-Key."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import Event, Job
from integrations.models import KeptAnswer
from tests.console.api.calls import caller_for, check_refused


@pytest.fixture
def job(db) -> Job:
    return Job.objects.create(title="long work", task="none")


def test_a_repeated_call_gets_the_same_answer_and_changes_nothing(caller, job):
    first, second = (caller.post(f"/jobs/{job.pk}/cancel", key="one") for _ in range(2))
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == second.json()
    assert "Idempotent-Replayed" not in first
    assert second["Idempotent-Replayed"] == "true"
    assert Event.objects.filter(verb="cancelled").count() == 1


def test_a_key_of_another_call_or_body_is_refused(caller, job):
    other = Job.objects.create(title="other work", task="none")
    caller.post(f"/jobs/{job.pk}/cancel", {}, key="one")
    for path, body in ((f"/jobs/{other.pk}/cancel", {}), (f"/jobs/{job.pk}/cancel", {"now": True})):
        check_refused(caller.post(path, body, key="one"), 409, "another call")
    assert Job.objects.get(pk=other.pk).state == "queued"


def test_keys_of_two_tokens_are_two(caller, job):
    caller.post(f"/jobs/{job.pk}/cancel", key="one")
    check_refused(caller_for(caller.token.owner).post(f"/jobs/{job.pk}/cancel", key="one"), 409, "already ended")


def test_a_refused_call_keeps_nothing_and_may_be_made_again(caller, job):
    Job.objects.update(state="done")
    assert caller.post(f"/jobs/{job.pk}/cancel", key="one").status_code == 409
    assert not KeptAnswer.objects.exists()
    Job.objects.update(state="queued")
    assert caller.post(f"/jobs/{job.pk}/cancel", key="one").status_code == 202


@pytest.mark.parametrize("key", ["", "a" * 256, "a\tb"])
def test_a_call_without_a_usable_key_is_refused(caller, job, key):
    response = caller.client.post(
        f"/api/v1/jobs/{job.pk}/cancel",
        headers={"Authorization": f"Bearer {caller.text}"} | ({"Idempotency-Key": key} if key else {}),
    )
    assert response.status_code == 400
    assert "Idempotency-Key" in response.json()["detail"]
    assert Job.objects.get(pk=job.pk).state == "queued"


def test_a_key_is_forgotten_after_a_day(caller, job):
    caller.post(f"/jobs/{job.pk}/cancel", key="one")
    KeptAnswer.objects.update(at=timezone.now() - timedelta(hours=25))
    Job.objects.update(state="queued")
    response = caller.post(f"/jobs/{job.pk}/cancel", key="one")
    assert response.status_code == 202
    assert "Idempotent-Replayed" not in response
    KeptAnswer.objects.update(at=timezone.now() - timedelta(hours=25))
    assert KeptAnswer.purge() == 1
