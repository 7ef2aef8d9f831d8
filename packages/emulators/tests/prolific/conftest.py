"""A marketplace on a free port with a stopped clock that tests move, and clients that speak to it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from counterpart_emulators.prolific.emulator import Emulator
from counterpart_emulators.prolific.world import World
from counterpart_emulators.world_clock import Clock

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ADDRESS = (
    "https://tasks.example/p/1/?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
)
STUDY: dict[str, Any] = {
    "name": "Judge captions",
    "description": "Say how well captions fit pictures",
    "external_study_url": ADDRESS,
    "prolific_id_option": "url_parameters",
    "completion_codes": [
        {"code": "DONE", "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]},
        {
            "code": "NOPE",
            "code_type": "NO_CONSENT",
            "actions": [{"action": "REQUEST_RETURN", "return_reason": "You did not agree"}],
        },
        {"code": "RESCUE", "code_type": "OTHER", "actor": "researcher", "actions": [{"action": "MANUALLY_REVIEW"}]},
    ],
    "total_available_places": 2,
    "estimated_completion_time": 10,
    "maximum_allowed_time": 29,
    "reward": 200,
}
REASON = "The two instruction items, which say which answer to give, were both answered with something else. " * 2

Client = httpx.Client


@pytest.fixture
def world() -> World:
    return World(seed=7, clock=Clock(lambda: NOON))


@pytest.fixture
def emulator(world: World) -> Iterator[Emulator]:
    with Emulator(world) as running:
        yield running


@pytest.fixture
def api(emulator: Emulator) -> Iterator[Client]:
    headers = {"Authorization": f"Token {emulator.token}"}
    with httpx.Client(base_url=f"{emulator.url}/api/v1/", headers=headers) as client:
        yield client


@pytest.fixture
def visitor(emulator: Emulator) -> Iterator[Callable[..., Client]]:
    """Sign a participant in with a browser of their own, a new one unless they are named."""
    opened: list[Client] = []

    def signed_in(participant_id: str = "", **profile: str) -> Client:
        client = httpx.Client(base_url=emulator.url)
        opened.append(client)
        assert client.post("/register", data={"participant_id": participant_id, **profile}).status_code == 303
        return client

    yield signed_in
    for client in opened:
        client.close()


@pytest.fixture
def draft(api: Client) -> Callable[..., dict[str, Any]]:
    """Create a draft, with whatever is different about it."""

    def made(**different: Any) -> dict[str, Any]:
        answer = api.post("studies/", json=STUDY | different)
        assert answer.status_code == 201, answer.text
        return answer.json()

    return made


@pytest.fixture
def publish(api: Client, draft: Callable[..., dict[str, Any]]) -> Callable[..., str]:
    """Create and publish a study; returns its id."""

    def done(**different: Any) -> str:
        study_id: str = draft(**different)["id"]
        answer = api.post(f"studies/{study_id}/transition/", json={"action": "PUBLISH"})
        assert answer.status_code == 200, answer.text
        return study_id

    return done


@pytest.fixture
def take(world: World) -> Callable[..., tuple[str, str]]:
    """Let a participant reserve a place and start; returns the ids of the submission and the participant."""

    def taken(study_id: str, participant_id: str | None = None) -> tuple[str, str]:
        by = participant_id or world.register()
        submission_id = world.act("reserve", study_id=study_id, participant_id=by)["submission_id"]
        world.act("start", submission_id=submission_id, participant_id=by)
        return submission_id, by

    return taken


@pytest.fixture
def finish(world: World, take: Callable[..., tuple[str, str]]) -> Callable[..., tuple[str, str]]:
    """Let a participant take a place and enter a code; returns the ids of the submission and the participant."""

    def finished(study_id: str, participant_id: str | None = None, *, code: str = "DONE") -> tuple[str, str]:
        submission_id, by = take(study_id, participant_id)
        world.act("complete", submission_id=submission_id, participant_id=by, code=code)
        return submission_id, by

    return finished


@pytest.fixture
def decide(api: Client) -> Callable[..., dict[str, Any]]:
    """Approve a submission, or reject it; returns it."""

    def decided(submission_id: str, action: str = "APPROVE") -> dict[str, Any]:
        why = {"message": REASON, "rejection_category": "FAILED_CHECK"} if action == "REJECT" else {}
        answer = api.post(f"submissions/{submission_id}/transition/", json={"action": action, **why})
        assert answer.status_code == 200, answer.text
        return answer.json()

    return decided


@pytest.fixture
def pass_time(world: World) -> Callable[..., None]:
    """Move the clock forward and leave it stopped."""

    def passed(**by: float) -> None:
        world.move_clock(by=timedelta(**by), running=False)

    return passed


def status_of(api: Client, kind: str, id: str) -> str:
    """Return the status of a study or submission; ``kind`` is studies or submissions."""
    status: str = api.get(f"{kind}/{id}/").json()["status"]
    return status


def balance(api: Client) -> tuple[int, int]:
    """Return what is in the wallet, in cents: in all, and what is available."""
    account = api.get("users/me/").json()
    return account["balance"], account["available_balance"]


def refusal(answer: httpx.Response) -> Any:
    """Return the detail of a refused call."""
    assert answer.status_code == 400, answer.text
    body = answer.json()
    return body.get("error", body)["detail"]
