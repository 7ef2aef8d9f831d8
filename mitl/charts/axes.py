"""The axes of panels: grid lines, ticks and titles."""

from collections.abc import Sequence

from mitl.charts.drawing import across, element, width_of, words
from mitl.charts.scales import Scale

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
