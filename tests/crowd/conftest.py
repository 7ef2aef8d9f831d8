"""MTurk's emulator, a HIT in its frame, and a platform of sessions with a round on it."""

import pytest
from django.core.management import call_command

from crowd import channels
from crowd.models import Posting
from tests.crowd.framing import post_hit, serve_mturk
from tests.crowd.platform import rehearsal
from tests.crowd.session_fakes import FakeSessions
from tests.factories import make_round

__all__ = ["rehearsal"]


@pytest.fixture
def framed(monkeypatch) -> None:
    """The emulator's workers come from its origin."""
    serve_mturk(monkeypatch)


@pytest.fixture
def posting(db, framed) -> Posting:
    """The only HIT of a round, as posted on the platform."""
    return post_hit(make_round().hits.get())


@pytest.fixture
def there(monkeypatch, settings) -> FakeSessions:
    settings.SYNC_LAG_SECONDS = 0
    fake = FakeSessions()
    monkeypatch.setitem(channels.CHANNELS, "visits", fake)
    return fake


@pytest.fixture
def made(db, there, commit):
    """A round of two HITs."""
    made = make_round(hits=2, published=False)
    with commit(execute=True):
        call_command("publish", made.name, channel="visits", environment="emulator")
    made.refresh_from_db()
    return made
