"""The cast of the work on a round: a person who decides, a platform that pays."""

import pytest
from django.contrib.auth.models import User

from hits import channels
from tests.hits.fakes import FakePlatform


@pytest.fixture
def person(db) -> User:
    """A named member of the staff."""
    return User.objects.create_user(username="robin")


@pytest.fixture
def platform(monkeypatch) -> FakePlatform:
    """A platform that moves money, in the place of MTurk: its fee is 20%."""
    fake = FakePlatform()
    monkeypatch.setitem(channels.CHANNELS, "mturk", fake)
    return fake
