"""Calls to the Requester API: one client an environment, and one kind of error for all that can go wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ParamValidationError,
)

from crowd.channels.base import ChannelError
from crowd.channels.mturk.environments import Environment, environment_of

PREFIX = "AWS.MechanicalTurk."
THROTTLED = ("ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded")
THROTTLED_PAUSE = timedelta(seconds=20)
FUNDS_PAUSE = timedelta(minutes=10)

# The SDK would send a call again by itself, even one that moves money; only the outbox repeats calls here, as it
# knows to read back first.
CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 1},
    connect_timeout=5,
    read_timeout=30,
    parameter_validation=True,
)


class TurkError(ChannelError):
    """MTurk did not do a call. ``code``: its TurkErrorCode without the prefix, or else the error's code."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        reached: bool,
        permanent: bool = False,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message, permanent=permanent, retry_after=retry_after, reached=reached)
        self.code = code

    @property
    def is_replay(self) -> bool:
        """Whether MTurk says that it has done a call with this token before. The code for that is undocumented."""
        return "token" in str(self).lower() and "process" in str(self).lower()


def client_for(environment: str) -> Any:
    """Return a client for the environment. Raises ChannelError unless it may be used and the client leads there."""
    found = environment_of(environment)
    client = _client(found)
    if client.meta.endpoint_url.rstrip("/") != found.endpoint.rstrip("/"):
        raise ChannelError(
            f"The client for MTurk's {environment} leads to {client.meta.endpoint_url}; nothing was sent.",
            permanent=True,
        )
    return client


@contextmanager
def told_as_channel_errors() -> Iterator[None]:
    """Turn whatever the SDK raises inside into a TurkError."""
    try:
        yield
    except ClientError as error:
        raise _refusal(error) from error
    except ParamValidationError as error:
        raise TurkError(f"MTurk would refuse this: {error}", code="Invalid", reached=False, permanent=True) from error
    except (EndpointConnectionError, ConnectTimeoutError) as error:
        there = f"at {error.kwargs.get('endpoint_url', 'its address')}; is its emulator, where that is one, running?"
        raise TurkError(f"MTurk cannot be reached {there}", code="Unreachable", reached=False) from error
    except BotoCoreError as error:
        raise TurkError(f"MTurk's answer was lost: {error}", code="Lost", reached=True) from error


@cache
def _client(environment: Environment) -> Any:
    return boto3.session.Session().client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=environment.endpoint,
        aws_access_key_id=environment.access_key,
        aws_secret_access_key=environment.secret_key,
        config=CONFIG,
    )


def _refusal(error: ClientError) -> TurkError:
    """Classify by code, then TurkErrorCode, then status: only what MTurk understood and refused is permanent."""
    response = error.response
    details, status = response.get("Error", {}), response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    name = str(details.get("Code", ""))
    code = str(response.get("TurkErrorCode", "") or name).removeprefix(PREFIX)
    message = f"MTurk: {response.get('Message') or details.get('Message') or code} ({code})"
    if name in THROTTLED or status == 429:
        return TurkError(message, code=code, reached=False, retry_after=THROTTLED_PAUSE)
    if code == "InsufficientFunds":
        # Kept trying: somebody tops the account up, and the round goes on by itself.
        return TurkError(message, code=code, reached=False, retry_after=FUNDS_PAUSE)
    if status >= 500 or name in ("ServiceFault", "InternalFailure"):
        return TurkError(message, code=code, reached=True)
    return TurkError(message, code=code, reached=False, permanent=True)
