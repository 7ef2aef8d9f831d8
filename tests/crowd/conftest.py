"""MTurk's emulator, a HIT in its frame, and a platform of sessions with a round on it."""

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import TestCase

from crowd import channels
from crowd.models import Posting
from hits.models import Round
from tests.crowd.framing import post_hit, serve_mturk
from tests.crowd.platform import rehearsal, taken_back_there
from tests.crowd.prolific_rehearsal import rehearsal as prolific
from tests.crowd.session_fakes import FakeSessions
from tests.factories import make_round

__all__ = ["prolific", "rehearsal"]


@pytest.fixture
def framed(monkeypatch) -> None:
    """The emulator's workers come from its origin."""
    serve_mturk(monkeypatch)


@pytest.fixture
def posting(db, framed) -> Posting:
    """The only HIT of a round, as posted on the platform."""
    return post_hit(make_round().hits.get())


@pytest.fixture(scope="module")
def begun(request, lasting):
    """A rehearsal on the module's ``PLATFORM``, with what its ``begin`` does there once for all its tests."""
    with request.module.PLATFORM(settings) as there:
        request.module.begin(there, TestCase.captureOnCommitCallbacks)
        yield there


@pytest.fixture
def resumed(db, begun):
    """The same, as every test finds it: what a test does there is taken back after it."""
    with taken_back_there(begun.emulator):
        yield begun


@pytest.fixture
def begun_round(resumed) -> Round:
    return Round.objects.get()


@pytest.fixture(scope="module")
def on_visits(lasting) -> int:
    """A round of two HITs on a platform of sessions; its key."""
    made = make_round(hits=2, published=False)
    with pytest.MonkeyPatch.context() as patch, TestCase.captureOnCommitCallbacks(execute=True):
        patch.setitem(channels.CHANNELS, "visits", FakeSessions())
        call_command("publish", made.name, channel="visits", environment="emulator")
    return made.pk


@pytest.fixture
def there(monkeypatch, settings) -> FakeSessions:
    settings.SYNC_LAG_SECONDS = 0
    fake = FakeSessions()
    monkeypatch.setitem(channels.CHANNELS, "visits", fake)
    return fake


@pytest.fixture
def made(db, there, on_visits) -> Round:
    return Round.objects.get(pk=on_visits)
