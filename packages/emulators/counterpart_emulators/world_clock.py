"""A marketplace's clock: it runs at the speed of the real one, can be moved forward, and can be stopped."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from counterpart_emulators.inputs import InputError


class ClockError(InputError):
    """The clock cannot be set to this instant."""


class Clock:
    """Returns the time in UTC: the real time plus ``offset``, or ``stopped_at`` while the clock is stopped."""

    def __init__(self, real: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._real = real
        self.offset = timedelta(0)
        self.stopped_at: datetime | None = None

    @property
    def running(self) -> bool:
        return self.stopped_at is None

    def now(self) -> datetime:
        return self.stopped_at or self._real() + self.offset

    def set(self, to: datetime, *, running: bool) -> None:
        """Move the clock to an instant, where it continues or stops. Raises ClockError for an instant in the past."""
        if to.tzinfo is None:
            raise ClockError(f"{to.isoformat()} has no time zone; add one, such as +00:00.")
        if to < self.now():
            raise ClockError(f"The clock only moves forward: it is {self.now().isoformat()}, after {to.isoformat()}.")
        self.restore(offset=to - self._real(), stopped_at=None if running else to)

    def restore(self, *, offset: timedelta, stopped_at: datetime | None) -> None:
        """Set the clock to what a journal recorded."""
        self.offset = offset
        self.stopped_at = stopped_at
