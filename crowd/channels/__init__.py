"""The places where people find our work, by name."""

from typing import cast

from core.errors import CounterpartError, some_of
from crowd.channels.base import Arrival, Bonus, Channel, ChannelError, Listed, Listing, Platform, Standing
from crowd.channels.browser import BrowserChannel
from crowd.channels.mturk import MTurkChannel

__all__ = [
    "CHANNELS",
    "Arrival",
    "Bonus",
    "Channel",
    "ChannelError",
    "Listed",
    "Listing",
    "Platform",
    "Standing",
    "get",
    "platform",
]

CHANNELS: dict[str, Channel] = {"browser": BrowserChannel(), "mturk": MTurkChannel()}


def get(name: str) -> Channel:
    """Return the channel called ``name``. Raises CounterpartError if there is none."""
    if name not in CHANNELS:
        raise CounterpartError(f"There is no channel {name!r} here; choose one of: {some_of([*CHANNELS])}.")
    return CHANNELS[name]


def platform(name: str) -> Platform:
    """Return the channel called ``name``, which lies outside the house. Raises CounterpartError if it does not."""
    channel = get(name)
    if not channel.is_remote:
        raise CounterpartError(f"Channel {name!r} is the house's own; nothing is called there.")
    return cast(Platform, channel)
