"""Figures that take long to count: kept for a while, so that pages which look every few seconds stay cheap."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter
from typing import Generic, TypeVar

from django.core.cache import cache
from django.utils import timezone

Made = TypeVar("Made")

SLOW = 0.25  # seconds
MANY = 5_000  # answer sets whose figures take about a second


@dataclass(frozen=True)
class Kept(Generic[Made]):
    """Figures, and when they were made."""

    figures: Made
    at: datetime

    @property
    def old_since(self) -> datetime | None:
        """When they were made, for figures whose age a page should tell: those over a minute old."""
        return self.at if timezone.now() - self.at >= timedelta(minutes=1) else None


def kept_if_slow(key: str, make: Callable[[], Made]) -> Kept[Made]:
    """Return what ``make`` returns, or what it returned before: what took over SLOW is kept for 20 times as long,
    so that pages that look every few seconds cost a twentieth of a processor, however large a round is."""
    known: Kept[Made] | None = cache.get(key)
    if known is None:
        begun = perf_counter()
        at = timezone.now()
        known = Kept(make(), at)
        seconds = perf_counter() - begun
        if seconds > SLOW:
            cache.set(key, known, timeout=20 * seconds)
    return known


def kept_if_few(key: str, make: Callable[[], Made], *, answer_sets: int, at_once: bool) -> Kept[Made] | None:
    """Return what ``kept_if_slow`` does; but None for figures of MANY answer sets that nobody has counted lately,
    unless they are wanted ``at_once``: the page comes without them, and its live part counts."""
    if at_once or answer_sets < MANY:
        return kept_if_slow(key, make)
    known: Kept[Made] | None = cache.get(key)
    return known
