"""Readings that wait where a platform says that there were too many calls: for jobs and commands, never for a page."""

from collections.abc import Callable
from datetime import timedelta
from time import sleep
from typing import TypeVar

from crowd.channels.base import ChannelError

Read = TypeVar("Read")

LONGEST_WAIT = timedelta(minutes=1)
MOST_WAITS = 3


def patiently(read: Callable[[], Read]) -> Read:
    """Return what ``read`` does; it is called again, a few times, after the time that the platform asks for.

    Raises ChannelError for any other failure, for one that asks for longer than a minute, and where waiting is in vain.
    """
    for _ in range(MOST_WAITS):
        try:
            return read()
        except ChannelError as error:
            if error.retry_after is None or error.retry_after > LONGEST_WAIT:
                raise
            sleep(error.retry_after.total_seconds())
    return read()
