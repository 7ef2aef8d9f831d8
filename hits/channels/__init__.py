"""The crowd platforms that rounds can be published on, by name."""

from hits.channels.base import Channel, ChannelError
from hits.channels.browser import BrowserChannel
from journal.errors import CounterpartError, some_of

__all__ = ["CHANNELS", "Channel", "ChannelError", "get"]

CHANNELS: dict[str, Channel] = {"browser": BrowserChannel()}


def get(name: str) -> Channel:
    """Return the channel called ``name``. Raises CounterpartError if there is none."""
    if name not in CHANNELS:
        raise CounterpartError(f"There is no channel {name!r} here yet; choose one of: {some_of([*CHANNELS])}.")
    return CHANNELS[name]
