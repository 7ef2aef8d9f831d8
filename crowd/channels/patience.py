"""Reads that wait when a platform limits the rate of calls: for jobs and commands, never for a page."""

from collections.abc import Callable
from datetime import timedelta
from time import sleep
from typing import TypeVar

from crowd.channels.base import ChannelError

Read = TypeVar("Read")

LONGEST_WAIT = timedelta(minutes=1)
MOST_WAITS = 3


def patiently(read: Callable[[], Read]) -> Read:
    """Return what ``read`` returns; where the platform asks for a pause, wait that long and call it again.

    Raises ChannelError for other failures, for a pause of more than a minute, and after MOST_WAITS pauses.
    """
    for _ in range(MOST_WAITS):
        try:
            return read()
        except ChannelError as error:
            if error.retry_after is None or error.retry_after > LONGEST_WAIT:
                raise
            sleep(error.retry_after.total_seconds())
    return read()
