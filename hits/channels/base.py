"""What every crowd platform is to us: a place to publish a round, close it, and pay for work."""

from datetime import timedelta
from typing import Protocol

from hits.models import Payment, Round


class ChannelError(Exception):
    """A platform did not do what it was asked.

    ``permanent``: it never will, and a person must look. Otherwise the call is made again, not before
    ``retry_after`` where the platform named a time.
    """

    def __init__(self, message: str, *, permanent: bool = False, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.permanent = permanent
        self.retry_after = retry_after


class Channel(Protocol):
    """Calls to one platform. Each may be made twice with one ``token`` and must then take effect once.

    ``environments`` are those that a round can be published to; empty where the platform has only one.
    All calls raise ChannelError.
    """

    environments: tuple[str, ...]

    def publish(self, round: Round, *, token: str) -> None:
        """Offer the round's open seats on the platform."""

    def close(self, round: Round, *, token: str) -> None:
        """Withdraw what the platform still offers of the round."""

    def pay(self, payment: Payment, *, token: str) -> bool:
        """Pay it. False: the platform moves no money, and the payment stays owed until somebody marks it paid."""
