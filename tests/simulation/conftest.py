"""Crowds whose members see and click exactly, but for what a test changes; and the emulators that they go to."""

import json
from collections.abc import Callable, Iterator

import pytest

from tests.crowd import platform, prolific_rehearsal

EXACT = {
    "confusion": [[1.0 if row == column else 0.0 for column in range(4)] for row in range(4)],
    "likeness": 1e6, "careless_workers": 0.0, "random_clicks": 1.0,
    "seconds_per_pair": 10, "speed_spread": 0.5, "excluded": 1.0,
}  # fmt: skip


@pytest.fixture
def profile(tmp_path) -> Callable[..., str]:
    """Write the profile of such a crowd with these changes; return its path."""

    def write(**changes: object) -> str:
        path = tmp_path / "crowd.json"
        path.write_text(json.dumps({**EXACT, **changes}))
        return str(path)

    return write


@pytest.fixture
def there(transactional_db, live_server, settings) -> Iterator[platform.Rehearsal]:
    """MTurk's emulator, and our site."""
    settings.SITE_URL = live_server.url
    with platform.rehearsing(settings) as made:
        yield made


@pytest.fixture
def prolific(transactional_db, live_server, settings) -> Iterator[prolific_rehearsal.Rehearsal]:
    """Prolific's emulator, and our site."""
    settings.SITE_URL = live_server.url
    with prolific_rehearsal.rehearsing(settings) as made:
        yield made
