"""Charts of counts: columns of stacked parts over an axis, and one bar of the parts of a whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mitl.charts.axes import LABELS_UNDER, UNDER, across_axis, up_axis
from mitl.charts.drawing import Chart, Key, Panel, across, element
from mitl.charts.scales import Scale, linear

COLUMN_GAP = 0.15  # of the width of a column
PART_HEIGHT = 16  # pixels


@dataclass(frozen=True)
class Column:
    """A column: its parts from the bottom up, and what is shown under the pointer."""

    tip: str
    parts: Mapping[str, float]


def column_panel(
    title: str,
    columns: Sequence[Column],
    colours: Mapping[str, str],
    x: Scale,
    *,
    unit: str = "",
    x_title: str = "",
    up: Scale | None = None,
    height: int = 140,
) -> Panel:
    """Return a panel of columns of equal width, side by side, of parts in ``colours``; ``x`` has the ticks between 0
    and the number of columns."""
    scale = up or linear([sum(column.parts.values()) for column in columns], whole=True)
    lines, labels, margin = up_axis(scale, height)
    drawn = ""
    for number, column in enumerate(columns):
        below = 0.0
        for part, value in column.parts.items():
            if value:
                length = height * scale.share(value)
                below += length
                start = across((number + COLUMN_GAP / 2) / len(columns))
                box = {
                    "x": start,
                    "y": height - below,
                    "width": across((1 - COLUMN_GAP) / len(columns)),
                    "height": length,
                }
                drawn += element("rect", tip=column.tip, **box, fill=colours[part])
    under = across_axis(x, height, x_title, grid=False)
    total = height + (UNDER if x_title else LABELS_UNDER)
    return Panel(title, total, lines + drawn + under, labels, margin, right_width=12, unit=unit)


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
