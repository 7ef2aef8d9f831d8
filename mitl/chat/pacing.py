"""No more requests a minute than an endpoint allows."""

import time
from collections.abc import Callable
from threading import Lock


class Pacer:
    """Spaces the starts of requests evenly; threads may share one."""

    def __init__(
        self,
        per_minute: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``per_minute`` 0 is any number."""
        self._gap = 60 / per_minute if per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._lock, self._next = Lock(), clock()

    def wait(self) -> None:
        """Return when the next request may start."""
        with self._lock:
            start = max(self._next, self._clock())
            self._next = start + self._gap
        delay = start - self._clock()
        if delay > 0:
            self._sleep(delay)
