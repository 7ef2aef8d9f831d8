"""The worlds that speak MTurk's protocol, and the guards that keep them apart."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.conf import settings

from crowd.channels.base import ChannelError

NAMES = ("emulator", "sandbox", "production")
DESCRIPTIONS = {
    "emulator": "A rehearsal on this machine: no worker is real and no money moves.",
    "sandbox": "The platform's place for trying out: no money moves.",
    "production": "Real people work, and real money leaves the account.",
}


@dataclass(frozen=True)
class Environment:
    """Where calls go, the origins of the workers' site, and whose calls they are."""

    name: str
    endpoint: str
    origins: Sequence[str]
    access_key: str
    secret_key: str = field(repr=False)

    @property
    def is_ours(self) -> bool:
        """Whether it is our emulator, where nobody is paid."""
        return self.name == NAMES[0]


def environment_of(name: str) -> Environment:
    """Return the environment as configured. Raises ChannelError unless it is allowed, complete and what its name says:
    the emulator on this machine or a machine beside it, the others anywhere else and over TLS."""
    if name not in NAMES:
        raise _refused(f"MTurk has no environment {name!r}; there is {', '.join(NAMES)}.")
    if name not in settings.MTURK_ENVIRONMENTS:
        raise _refused(
            f"MTurk's {name} is switched off here. Add it to MTURK_ENVIRONMENTS if that is really what you want."
        )
    environment = Environment(name, **settings.MTURK[name])
    _check_endpoint(environment)
    if not (environment.access_key and environment.secret_key):
        raise _refused(f"MTurk's {name} needs MTURK_ACCESS_KEY_ID and MTURK_SECRET_ACCESS_KEY.")
    return environment


def _check_endpoint(environment: Environment) -> None:
    parts = urlsplit(environment.endpoint)
    host = parts.hostname or ""
    # A name without a dot is a neighbour in a private network, such as a compose service.
    is_near = host in ("localhost", "127.0.0.1", "::1") or "." not in host and ":" not in host
    if environment.is_ours and not is_near:
        raise _refused(f"MTURK_EMULATOR_URL leads to {host}, which is not on this machine; the emulator must be.")
    if not environment.is_ours and (is_near or parts.scheme != "https"):
        raise _refused(
            f"MTurk's {environment.name} is set to {environment.endpoint}, which is local or not https; "
            "publish to the emulator instead."
        )


def _refused(text: str) -> ChannelError:
    return ChannelError(text, permanent=True)
