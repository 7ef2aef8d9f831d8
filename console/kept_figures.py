"""Figures that take long to count: kept for a while, so that pages which look every few seconds stay cheap."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter
from typing import Generic, TypeVar

from django.core.cache import cache

from core import clock

Made = TypeVar("Made")

SLOW = 0.25  # seconds
MANY = 5_000  # answer sets whose figures take about a second


OUTDATED = 3600
"""Seconds that figures are shown longer than they are kept, where a page does not wait for new ones."""


@dataclass(frozen=True)
class Kept(Generic[Made]):
    """Figures, when they were made, and the seconds that this took."""

    figures: Made
    at: datetime
    seconds: float

    @property
    def old_since(self) -> datetime | None:
        """When they were made, for figures whose age a page should tell: those over a minute old."""
        return self.at if clock.now() - self.at >= timedelta(minutes=1) else None

    @property
    def is_due(self) -> bool:
        """Whether to count again: after 20 times as long as that takes, so that pages that look every few seconds cost
        a twentieth of a processor, however large a round is."""
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


class CountingTurn:
    """What one request counts of the figures of many answer sets (MANY): all that it asks for if it is to wait
    (``at_once``), the first that are due if it has its ``turn``, else none."""

    def __init__(self, *, at_once: bool = False, turn: bool = False) -> None:
        self._at_once, self._may_count = at_once, at_once or turn

    def kept(self, key: str, make: Callable[[], Made], *, answer_sets: int) -> Kept[Made] | None:
        """Return what ``kept_if_slow`` does, or the last figures, due or not; None where nobody has counted lately."""
        known: Kept[Made] | None = cache.get(key)
        if answer_sets >= MANY and (not self._may_count or (known and not known.is_due)):
            return known
        made = kept_if_slow(key, make)
        if answer_sets >= MANY and made.seconds > SLOW:
            self._may_count = self._at_once
        return made
