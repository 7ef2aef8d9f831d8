"""MTurk's emulator, a HIT in its frame, and a platform of sessions with a round on it."""

import pytest

from crowd.models import Posting
from tests.crowd.framing import post_hit, serve_mturk
from tests.crowd.platform import rehearsal
from tests.crowd.session_fakes import made, there
from tests.factories import make_round

__all__ = ["made", "rehearsal", "there"]


@pytest.fixture
def framed(monkeypatch) -> None:
    """The emulator's workers come from its origin."""
    serve_mturk(monkeypatch)


@pytest.fixture
def posting(db, framed) -> Posting:
    """The only HIT of a round, as posted on the platform."""
    return post_hit(make_round().hits.get())
