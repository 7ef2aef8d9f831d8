"""MTurk's environments and the client of each; every error of the SDK becomes a ChannelError.

The SDK is imported where it is used: it takes a tenth of a second of the start of every command.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from core.site.environment import env, is_local
from crowd.channels.base import ChannelError
from crowd.channels.marketplaces import invalid, is_near

NAMES = ("emulator", "sandbox", "production")
DESCRIPTIONS = {
    "emulator": "A rehearsal on this machine: simulated workers, no money.",
    "sandbox": "The platform's test environment: no money.",
    "production": "Real workers, and real money from the account.",
}

PREFIX = "AWS.MechanicalTurk."
THROTTLED = ("ThrottlingException", "Throttling", "TooManyRequestsException", "RequestLimitExceeded")
THROTTLED_PAUSE = timedelta(seconds=20)
FUNDS_PAUSE = timedelta(minutes=10)


@dataclass(frozen=True)
class Environment:
    """The endpoint of the API, the origins of the workers' site, and the keys of the account."""

    name: str
    endpoint: str
    origins: Sequence[str]
    access_key: str
    secret_key: str = field(repr=False)


class TurkError(ChannelError):
    """MTurk refused or failed a call. ``code``: its TurkErrorCode without the prefix, otherwise the error's code."""

    @property
    def is_replay(self) -> bool:
        """Whether MTurk refused the call because an earlier attempt with its token took effect. The code for that is
        undocumented, so the message is read: it has both words, other refusals have one of them."""
        return "token" in str(self).lower() and "process" in str(self).lower()


def environment_of(name: str) -> Environment:
    """Return the environment that the variables describe. Raises ChannelError unless it is allowed and complete, and
    the emulator is on this machine or a neighbour, the others anywhere else and over TLS."""
    if name not in NAMES:
        raise invalid(f"MTurk has no environment {name!r}: choose one of {', '.join(NAMES)}.")
    # By default only the emulator, and not even that on a site that others reach.
    if name not in env.list("MTURK_ENVIRONMENTS", ["emulator"] if is_local(settings.SITE_URL) else []):
        raise invalid(f"MTurk's {name} is disabled. To enable it, add it to MTURK_ENVIRONMENTS.")
    environment = _configured(name)
    near = is_near(environment.endpoint)
    if name == "emulator" and not near:
        raise invalid(f"MTURK_EMULATOR_URL is {environment.endpoint}, which is not on this machine.")
    if name != "emulator" and (near or urlsplit(environment.endpoint).scheme != "https"):
        raise invalid(
            f"MTurk's {name} is set to {environment.endpoint}, which is local or not https: publish to the emulator "
            "instead."
        )
    if not (environment.access_key and environment.secret_key):
        raise invalid(f"MTurk's {name} needs MTURK_ACCESS_KEY_ID and MTURK_SECRET_ACCESS_KEY.")
    return environment


def client_for(environment: str) -> Any:
    """Return a client for the environment. Raises ChannelError if it may not be used or the SDK changed its address."""
    configured = environment_of(environment)
    client = _client(configured)
    if client.meta.endpoint_url.rstrip("/") != configured.endpoint.rstrip("/"):
        raise invalid(f"The client for MTurk's {environment} uses {client.meta.endpoint_url}; nothing was sent.")
    return client


@contextmanager
def channel_errors() -> Iterator[None]:
    """Raise the SDK's errors in this block as a TurkError."""
    from botocore import exceptions

    try:
        yield
    except exceptions.ClientError as error:
        raise refusal_of(error.response) from error
    except exceptions.ParamValidationError as error:
        raise TurkError(f"Invalid call to MTurk: {error}", code="Invalid", reached=False, permanent=True) from error
    except (exceptions.EndpointConnectionError, exceptions.ConnectTimeoutError) as error:
        address = error.kwargs.get("endpoint_url", "its address")
        message = f"MTurk cannot be reached at {address}. If that is its emulator, check that it is running."
        raise TurkError(message, code="Unreachable", reached=False) from error
    except exceptions.BotoCoreError as error:
        raise TurkError(f"MTurk's response was lost: {error}", code="Lost", reached=True) from error


@contextmanager
def refusals_pass_if(is_done: Callable[[TurkError], bool]) -> Iterator[None]:
    """Raise errors as ``channel_errors`` does, except one that says that nothing is left to do: calls are repeated."""
    try:
        with channel_errors():
            yield
    except TurkError as error:
        if not is_done(error):
            raise


def _configured(name: str) -> Environment:
    if name == "emulator":
        url = env.str("MTURK_EMULATOR_URL", "http://127.0.0.1:8900").rstrip("/")
        origins = tuple(env.list("MTURK_EMULATOR_ORIGINS", [url]))
        return Environment(name, url, origins, "AKIAEMULATEDREQUESTR", "emulated-secret-of-the-requester")
    if name == "sandbox":
        url = env.str("MTURK_SANDBOX_URL", "https://mturk-requester-sandbox.us-east-1.amazonaws.com")
        origins = tuple(env.list("MTURK_SANDBOX_ORIGINS", ["https://workersandbox.mturk.com"]))
    else:
        url = env.str("MTURK_PRODUCTION_URL", "https://mturk-requester.us-east-1.amazonaws.com")
        sites = ["https://www.mturk.com", "https://worker.mturk.com"]
        origins = tuple(env.list("MTURK_PRODUCTION_ORIGINS", sites))
    keys = env.str("MTURK_ACCESS_KEY_ID", ""), env.str("MTURK_SECRET_ACCESS_KEY", "")
    return Environment(name, url, origins, *keys)


@cache
def _client(environment: Environment) -> Any:
    import boto3
    from botocore.config import Config

    # By default the SDK retries a call by itself, even one that moves money. Only the outbox retries calls here, as it
    # first reads back what the last attempt did.
    config = Config(
        retries={"mode": "standard", "total_max_attempts": 1},
        connect_timeout=5,
        read_timeout=30,
        parameter_validation=True,
    )
    return boto3.session.Session().client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=environment.endpoint,
        aws_access_key_id=environment.access_key,
        aws_secret_access_key=environment.secret_key,
        config=config,
    )


def refusal_of(response: dict[str, Any]) -> TurkError:
    """Classify by code, then TurkErrorCode, then status: only a call that MTurk understood and refused is permanent."""
    details = response.get("Error", {})
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    name = str(details.get("Code", ""))
    code = str(response.get("TurkErrorCode", "") or name).removeprefix(PREFIX)
    message = f"MTurk: {response.get('Message') or details.get('Message') or code} ({code})"
    if name in THROTTLED or status == 429:
        return TurkError(message, code=code, reached=False, retry_after=THROTTLED_PAUSE)
    if code == "InsufficientFunds":
        # Retried for long: when the account is topped up, the round continues by itself.
        return TurkError(message, code=code, reached=False, retry_after=FUNDS_PAUSE)
    if status >= 500 or name in ("ServiceFault", "InternalFailure"):
        return TurkError(message, code=code, reached=True)
    return TurkError(message, code=code, reached=False, permanent=True)
