"""Scales of charts: where a value is between the ends of an axis, and the ticks with their labels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan, log, log10

MOST_TICKS = 6
MOST_NAMES = 6


@dataclass(frozen=True)
class Scale:
    """An axis from ``low`` to ``high`` with ``ticks``: values with their labels."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    is_log: bool = False

    def share(self, value: float) -> float:
        """Return how far along the axis a value is, from 0 to 1 between its ends."""
        if self.is_log:
            return log(value / self.low) / log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def linear(values: Iterable[float], *, zero: bool = True, whole: bool = False, tight: bool = False) -> Scale:
    """Return a scale that holds the values and ends at ticks.

    Args:
        zero: the scale holds 0.
        whole: ticks are whole numbers.
        tight: the scale ends at the lowest and the highest value, not at ticks.
    """
    known = [value for value in values if not isnan(value)]
    low = min([*known, *([0.0] if zero or not known else [])])
    high = max([*known, *([0.0] if zero or not known else [])])
    if high == low:
        high = low + 1 if whole or not known or zero else low + 0.1
    step = _step((high - low) / MOST_TICKS)
    if whole:
        step = max(1, step)
    first, last = floor(round(low / step, 9)), ceil(round(high / step, 9))
    if tight:
        first, last = ceil(round(low / step, 9)), floor(round(high / step, 9))
    ticks = [round(number * step, 10) for number in range(first, last + 1)]
    if not tight:
        low, high = ticks[0], ticks[-1]
    return Scale(low, high, [(tick, tick_text(tick)) for tick in ticks])


def _step(least: float) -> float:
    """Return the least step of 1, 2 or 5 times a power of ten."""
    power = 10 ** floor(log10(least))
    return next(float(lead * power) for lead in (1, 2, 5, 10) if lead * power >= least * (1 - 1e-9))


def logarithmic(values: Iterable[float]) -> Scale:
    """Return a logarithmic scale from 1 to the highest of the values, with ticks at 1, 2, 5, 10, ..."""
    high = max([2.0, *values])
    leads = (1, 2, 5) if high <= 200 else (1,)
    ticks = [lead * 10**power for power in range(len(str(int(high)))) for lead in leads]
    return Scale(1, high, [(tick, tick_text(tick)) for tick in ticks if tick <= high], is_log=True)


def ordinal(names: Sequence[str]) -> Scale:
    """Return a scale of places 0, 1, ... with names. Of many names, every second or third has a label."""
    every = ceil(len(names) / MOST_NAMES)
    ticks = [(place, name) for place, name in enumerate(names) if place % every == 0]
    return Scale(-0.5, max(len(names), 1) - 0.5, ticks)


def shares(parts: int = 4) -> Scale:
    """Return the scale from 0% to 100%, with a tick at the end of each of the parts."""
    return Scale(0, 1, [(tick / parts, f"{100 * tick / parts:g}%") for tick in range(parts + 1)])


def tick_text(value: float) -> str:
    """``12000`` becomes ``12k``, ``0.30000000004`` becomes ``0.3``."""
    for unit, letter in ((1e6, "M"), (1e4, "k")):
        if abs(value) >= unit:
            return f"{value / (1e3 if letter == 'k' else unit):g}{letter}"
    return f"{round(value, 6):,g}"
