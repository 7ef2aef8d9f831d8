"""A marketplace on a free port with a stopped clock that tests move, and clients that speak to it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from counterpart_emulators.mturk.emulator import Emulator
from counterpart_emulators.mturk.signing import REQUESTER, Credential
from counterpart_emulators.mturk.world import World
from counterpart_emulators.world_clock import Clock

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
QUESTION = (
    f'<ExternalQuestion xmlns="{SCHEMAS}/2006-07-14/ExternalQuestion.xsd">'
    "<ExternalURL>https://tasks.example/judge?round=1&amp;item=2</ExternalURL><FrameHeight>0</FrameHeight>"
    "</ExternalQuestion>"
)
TYPE = {
    "Title": "Judge captions",
    "Description": "Say how well captions fit pictures",
    "Keywords": "images, captions",
    "Reward": "0.65",
    "AssignmentDurationInSeconds": 600,
    "AutoApprovalDelayInSeconds": 7 * 86_400,
}

Client = Any
SESSION = boto3.Session()


@pytest.fixture
def world() -> World:
    return World(seed=7, clock=Clock(lambda: NOON))


@pytest.fixture
def emulator(world: World) -> Iterator[Emulator]:
    with Emulator(world) as running:
        yield running


@pytest.fixture
def connect(emulator: Emulator) -> Callable[..., Client]:
    """Make a client: of the requester or another account, by default with one attempt."""

    def made(
        credential: Credential = REQUESTER,
        *,
        attempts: int = 1,
        region: str = "us-east-1",
        patience: float = 5,
    ) -> Client:
        return SESSION.client(
            "mturk",
            region_name=region,
            endpoint_url=emulator.url,
            aws_access_key_id=credential.access_key,
            aws_secret_access_key=credential.secret_key,
            config=Config(retries={"total_max_attempts": attempts}, read_timeout=patience),
        )

    return made


@pytest.fixture
def mturk(connect: Callable[..., Client]) -> Client:
    return connect()


@pytest.fixture
def type_id(mturk: Client) -> str:
    return mturk.create_hit_type(**TYPE)["HITTypeId"]


@pytest.fixture
def post(mturk: Client, type_id: str) -> Callable[..., dict[str, Any]]:
    """Put up a HIT for an hour, with whatever is different about it, and return what the API shows of it."""

    def posted(**different: Any) -> dict[str, Any]:
        usual = {"HITTypeId": type_id, "LifetimeInSeconds": 3600, "Question": QUESTION}
        return mturk.create_hit_with_hit_type(**usual | different)["HIT"]

    return posted


@pytest.fixture
def worker(world: World) -> str:
    return world.register_worker("AWORKER1")


@pytest.fixture
def do(world: World) -> Callable[..., str]:
    """Let a worker accept a HIT and submit it; returns the AssignmentId."""

    def done(hit_id: str, worker_id: str | None = None) -> str:
        by = worker_id or world.register_worker()
        assignment_id = world.accept(hit_id, by)["AssignmentId"]
        world.submit(assignment_id, by, {"labels": "1,2,3"})
        return assignment_id

    return done


@pytest.fixture
def refused() -> Callable[..., tuple[str, str | None, str]]:
    """Make a call that has to fail; returns its code, its TurkErrorCode and its message."""

    def made(call: Callable[..., Any], **params: Any) -> tuple[str, str | None, str]:
        with pytest.raises(ClientError) as caught:
            call(**params)
        response = caught.value.response
        return response["Error"]["Code"], response.get("TurkErrorCode"), response["Error"]["Message"]

    return made
