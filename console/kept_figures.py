"""Figures that take long to count: kept for a while, so that pages that ask every few seconds stay cheap."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter
from typing import Generic, TypeVar

from django.core.cache import cache

from core import clock

Made = TypeVar("Made")

SLOW = 0.25  # seconds
OUTDATED = 3600
"""Seconds that old figures are still shown, where a page does not wait for new ones."""


@dataclass(frozen=True)
class Kept(Generic[Made]):
    """Figures, when they were made, and the seconds that this took."""

    figures: Made
    at: datetime
    seconds: float

    @property
    def old_since(self) -> datetime | None:
        """When they were made, if a page should show their age: figures over a minute old."""
        return self.at if clock.now() - self.at >= timedelta(minutes=1) else None

    @property
    def is_due(self) -> bool:
        """Whether to count again: after 20 times the time that counting takes. So pages that ask every few seconds use
        a twentieth of a processor, also for large rounds."""
        return clock.now() - self.at > timedelta(seconds=20 * self.seconds)


def kept_if_slow(key: str, make: Callable[[], Made]) -> Kept[Made]:
    """Return what ``make`` returns, or what it returned before if that took over SLOW and is not due."""
    known: Kept[Made] | None = cache.get(key)
    if known is None or known.is_due:
        begun = perf_counter()
        at = clock.now()
        made = make()
        known = Kept(made, at, perf_counter() - begun)
        if known.seconds > SLOW:
            cache.set(key, known, timeout=20 * known.seconds + OUTDATED)
        else:
            cache.delete(key)
    return known
