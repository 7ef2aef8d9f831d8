"""The marketplace's clock: it runs beside the real one, can be moved forward, and can be stopped."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class ClockError(Exception):
    """The clock cannot go there."""


class Clock:
    """Tells the time in UTC: the real time plus ``offset``, or, while it is stopped, ``stopped_at``."""

    def __init__(self, real: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._real = real
        self.offset = timedelta(0)
        self.stopped_at: datetime | None = None

    def now(self) -> datetime:
        return self.stopped_at or self._real() + self.offset

    def set(self, to: datetime, *, running: bool) -> None:
        """Move the clock to an instant, and let it run on from there or stop. Raises ClockError for the past."""
        if to.tzinfo is None:
            raise ClockError(f"{to.isoformat()} has no time zone; give one, such as +00:00.")
        if to < self.now():
            raise ClockError(f"The clock only moves forward: it is {self.now().isoformat()}, after {to.isoformat()}.")
        self.restore(offset=to - self._real(), stopped_at=None if running else to)

    def restore(self, *, offset: timedelta, stopped_at: datetime | None) -> None:
        """Put the clock where a journal says it was."""
        self.offset, self.stopped_at = offset, stopped_at
