"""Jobs that are noted instead of sent."""

import pytest
from django.contrib.auth.models import User

from core.work import jobs
from core.work.jobs import open_job


@pytest.fixture
def sent(monkeypatch):
    """The ids of the jobs sent, instead of sending them."""
    ids = []
    monkeypatch.setattr(jobs, "send", lambda job: ids.append(job.pk))
    return ids


@pytest.fixture
def user(db):
    return User.objects.create(username="ann")


@pytest.fixture
def job(db):
    return open_job("Count the sheep", "farm.tasks.count", {"sheep": 3})
