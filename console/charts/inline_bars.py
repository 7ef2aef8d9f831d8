"""Small charts of bars that a template draws as SVG: parts of one bar, and columns of stacked parts.

Everything is measured in percent of the box, so that a chart is as wide as its card.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

GAP = 0.15  # of the width of a column


@dataclass(frozen=True)
class Segment:
    """One part of a bar; ``start`` and ``length`` are percentages of the bar."""

    kind: str
    label: str
    count: int
    start: float
    length: float


@dataclass(frozen=True)
class Rect:
    """A part of a column: its corner, top left, and its size."""

    kind: str
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True)
class StackedBar:
    """``parts`` are values by kind, from the bottom up; ``title`` says them in words."""

    title: str
    parts: Mapping[str, float]


def split_bar(parts: Sequence[tuple[str, str, int]]) -> list[Segment]:
    """Return the segments of a bar for parts of (kind, label, count), those of 0 included; empty if all are 0."""
    total = sum(count for _, _, count in parts)
    segments: list[Segment] = []
    if not total:
        return segments
    start = 0.0
    for kind, label, count in parts:
        length = 100 * count / total
        segments.append(Segment(kind, label, count, round(start, 3), round(length, 3)))
        start += length
    return segments


def stacked(columns: Sequence[StackedBar], *, top: float = 0) -> list[Rect]:
    """Return the bars of columns of equal width, side by side. ``top`` is the value at the upper edge (default: the
    highest column)."""
    highest = top or max((sum(column.parts.values()) for column in columns), default=0)
    rects: list[Rect] = []
    for number, column in enumerate(columns):
        width = 100 / len(columns)
        below = 0.0
        for kind, value in column.parts.items():
            height = 100 * value / highest if highest else 0
            below += height
            if height:
                corner = (round((number + GAP / 2) * width, 3), round(100 - below, 3))
                rects.append(Rect(kind, *corner, round(width * (1 - GAP), 3), round(height, 3), column.title))
    return rects
