"""Calls that a program draws from the description: no answer is a failure of the site, or one that is not described."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.console.api.calls import caller_of
from tests.console.conftest import make_site

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
PHASES = "fuzzing,stateful"  # values at the bounds of each field are those of tests/console/test_hostile.py
EXAMPLES = 2  # of each call


@pytest.fixture
def token(transactional_db, settings, monkeypatch) -> str:
    settings.API_CALLS_PER_MINUTE = 10**9
    monkeypatch.setattr("console.api.bearer.WRONG_TOKENS", 10**9)
    monkeypatch.setattr("core.work.jobs.send", lambda job: None)  # the jobs wait
    make_site()
    return caller_of("admin").text


def test_no_drawn_call_fails_or_is_answered_otherwise_than_described(live_server, token, tmp_path):
    # What a schema allows may still be refused in a sentence (422), such as a round without queries.
    checks = ["--exclude-checks", "positive_data_acceptance"]
    drawn = ["--phases", PHASES, "--max-examples", str(EXAMPLES), "--seed", "1", "--no-shrink"]
    outcome = subprocess.run(
        [
            *(str(Path(sys.executable).parent / "st"), "run", f"{live_server.url}/api/v1/openapi.json"),
            # On a connection that stays open, the test's server answers each call 40 ms later.
            *("--header", f"Authorization: Bearer {token}", "--header", "Connection: close"),
            *("--warnings", "off", *checks, *drawn),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 0, outcome.stdout[-20_000:] + outcome.stderr[-2_000:]
