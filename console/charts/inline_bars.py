"""Charts of counts: columns of stacked parts over an axis, and one bar of the parts of a whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mitl.charts.drawing import Chart, Key, Panel, across, element
from mitl.charts.scales import LABELS_UNDER, Scale, across_axis, linear, up_axis

COLUMN_GAP = 0.15  # of the width of a column
HEIGHT = 140  # pixels
PART_HEIGHT = 16


@dataclass(frozen=True)
class Column:
    """A column: its parts from the bottom up, and what is shown under the pointer."""

    tip: str
    parts: Mapping[str, float]


def column_panel(title: str, columns: Sequence[Column], colours: Mapping[str, str], x: Scale) -> Panel:
    """Return a panel of columns of equal width, side by side, of parts in ``colours``; ``x`` has the ticks between 0
    and the number of columns."""
    scale = linear([sum(column.parts.values()) for column in columns], whole=True)
    lines, labels, margin = up_axis(scale, HEIGHT)
    width = (1 - COLUMN_GAP) / len(columns)
    drawn = ""
    for number, column in enumerate(columns):
        below = 0.0
        for part, value in column.parts.items():
            if value:
                length = HEIGHT * scale.share(value)
                below += length
                start = (number + COLUMN_GAP / 2) / len(columns)
                box = {"x": across(start), "y": HEIGHT - below, "width": across(width), "height": length}
                drawn += element("rect", tip=column.tip, **box, fill=colours[part])
    under = across_axis(x, HEIGHT, grid=False)
    return Panel(title, HEIGHT + LABELS_UNDER, lines + drawn + under, labels, margin, right_width=12)


def part_chart(title: str, parts: Sequence[tuple[str, str, int]], *, with_shares: bool = False) -> Chart | None:
    """Draw one bar of the parts of a whole, given as colour, label and count; None if all counts are 0. The key has the
    counts of those that are there, or ``with_shares`` the counts and shares of all."""
    total = sum(count for _, _, count in parts)
    if not total:
        return None
    area = ""
    start = 0.0
    key = []
    for colour, label, count in parts:
        share = count / total
        box = {"x": across(start), "y": 0, "width": across(share), "height": PART_HEIGHT}
        if count:
            area += element("rect", tip=f"{label}: {count:,} ({share:.0%})", **box, fill=colour)
        if count or with_shares:
            key.append(Key(colour, label, f"{count:,} · {share:.0%}" if with_shares else f"{count:,}"))
        start += share
    return Chart("", "", [Panel(title, PART_HEIGHT, area)], key)
