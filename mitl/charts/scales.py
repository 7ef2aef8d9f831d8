"""The scales of charts, and the axes that show them: grid lines, ticks and titles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan, log, log10

from mitl.charts.drawing import across, element, width_of, words

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


UNDER = 40  # pixels under the area for labels and the title of the axis
LABELS_UNDER = 22  # for labels alone
SHORT = 4  # letters of a label that may reach beyond the area


def across_axis(scale: Scale, height: float, title: str = "", *, grid: bool = True) -> str:
    """Return the axis under an area of this height, with lines at its ticks."""
    drawn = [element("line", x1="0%", x2="100%", y1=height, y2=height, stroke="line-strong")]
    for value, label in scale.ticks:
        x = across(scale.share(value))
        if grid:
            drawn.append(element("line", x1=x, x2=x, y1=0, y2=height, stroke="line"))
        drawn.append(words(label, x=x, y=height + 16, text_anchor=_anchor(scale.share(value), label)))
    if title:
        drawn.append(words(title, x="50%", y=height + 34, text_anchor="middle"))
    return "".join(drawn)


def _anchor(share: float, label: str) -> str:
    """Return the place of a label by its tick: long labels at the ends stay inside."""
    if len(label) <= SHORT or 0.02 < share < 0.98:
        return "middle"
    return "start" if share < 0.5 else "end"


def up_axis(scale: Scale, height: float) -> tuple[str, str, int]:
    """Return the lines at the ticks of an axis that goes up, its labels for the left margin, and their width."""
    width = width_of([label for _, label in scale.ticks], 12)
    lines = []
    labels = []
    for value, label in scale.ticks:
        y = height * (1 - scale.share(value))
        lines.append(element("line", x1="0%", x2="100%", y1=y, y2=y, stroke="line"))
        labels.append(words(label, x=width - 8, y=y + 4, text_anchor="end"))
    return "".join(lines), "".join(labels), width


def spread(places: Sequence[float], apart: float, most: float) -> list[float]:
    """Move places until they are so far ``apart``, in their order, and as far as possible not beyond ``most``."""
    moved = dict.fromkeys(range(len(places)), 0.0)
    order = sorted(moved, key=lambda number: places[number])
    last = -apart
    for number in order:
        last = moved[number] = max(places[number], last + apart)
    last = most + apart
    for number in reversed(order):
        last = moved[number] = min(moved[number], last - apart)
    return list(moved.values())
