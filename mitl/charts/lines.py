"""Charts of lines and of dots, some with the interval of each value. Each line has its name at its end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mitl.charts.drawing import COLOURS, Chart, Panel, across, element, width_of, words
from mitl.charts.scales import UNDER, Scale, across_axis, linear, logarithmic, ordinal, spread, tick_text, up_axis

LONGEST_NAME = 16
HEIGHT = 190
RANK = 30  # pixels between two ranks
LETTERS = 14  # pixels between the names of two lines

Values = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Point:
    """A value, with its interval where ``low`` is given; ``size`` is the radius of its dot in pixels."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    tip: str = ""
    size: float = 3.5


@dataclass(frozen=True)
class Line:
    """Points under a name; dots alone unless ``is_drawn``."""

    name: str
    points: list[Point]
    colour: str
    is_drawn: bool = True


@dataclass(frozen=True)
class Plane:
    """Where the points of a panel are."""

    x: Scale
    y: Scale
    height: float = HEIGHT

    def across(self, value: float) -> str:
        return across(self.x.share(value))

    def down(self, value: float) -> float:
        return self.height * (1 - self.y.share(value))


def line_panel(
    title: str, lines: Sequence[Line], plane: Plane, x: str, y: str, *, names: bool = True, behind: str = ""
) -> Panel:
    """Return a panel of lines or dots; ``names``: each line has its name at the right. ``behind`` is SVG."""
    grid, labels, margin = up_axis(plane.y, plane.height)
    area = grid + across_axis(plane.x, plane.height, x, grid=False) + behind
    area += "".join(_line(one, plane) for one in lines)
    named = [one for one in lines if one.points] if names else []
    places = spread([plane.down(one.points[-1].y) for one in named], LETTERS, plane.height)
    right = "".join(
        words(one.name, most=LONGEST_NAME, x=8, y=place + 4, fill=one.colour)
        for one, place in zip(named, places, strict=True)
    )
    width = width_of([one.name for one in named], LONGEST_NAME) + 4
    return Panel(title, round(plane.height) + UNDER, area, labels, margin, right, width, y)


def _line(line: Line, plane: Plane) -> str:
    drawn = ""
    for one, other in pairwise(line.points) if line.is_drawn else ():
        ends = {
            "x1": plane.across(one.x),
            "y1": plane.down(one.y),
            "x2": plane.across(other.x),
            "y2": plane.down(other.y),
        }
        drawn += element("line", **ends, stroke=line.colour, stroke_width=2, stroke_linecap="round")
    for one in line.points:
        x = plane.across(one.x)
        mark = element("circle", cx=x, cy=plane.down(one.y), r=one.size, fill=line.colour)
        # A larger mark around it is easy to hit with a pointer.
        mark += element("circle", cx=x, cy=plane.down(one.y), r=max(one.size, 9.0), fill="none", pointer_events="all")
        if one.low is not None and one.high is not None and not isnan(one.low):
            ends = {"x1": x, "x2": x, "y1": plane.down(one.low), "y2": plane.down(one.high)}
            mark += element("line", **ends, stroke=line.colour, stroke_width=1.5, opacity=0.75)
        drawn += element("g", mark, tip=one.tip)
    return drawn


def diagonal(plane: Plane) -> str:
    """Return the line on which both values are the same."""
    ends = {"x1": "0%", "y1": plane.height, "x2": "100%", "y2": 0}
    return element("line", **ends, stroke="ink-soft", stroke_dasharray="4 4")


def coloured(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each line, in order."""
    return {name: COLOURS[number % len(COLOURS)] for number, name in enumerate(dict.fromkeys(names))}


def tail_chart(title: str, subtitle: str, panels: Mapping[str, Mapping[str, NDArray]], x: str, y: str) -> Chart:
    """Draw the number of items with at least each count, log-log, a line an annotator.

    Args:
        panels: title of each panel → annotator → counts of items.
        x, y: titles of the axes.
    """
    colours = coloured([annotator for counts in panels.values() for annotator in counts])
    drawn = []
    for name, counts in panels.items():
        tails = {one: _tail(values) for one, values in counts.items()}
        points = [point for tail in tails.values() for point in tail]
        plane = Plane(logarithmic([one.x for one in points]), logarithmic([one.y for one in points]), 240)
        lines = [Line(one, tail, colours[one]) for one, tail in tails.items()]
        drawn.append(line_panel(name, lines, plane, x, y))
    return Chart(title, subtitle, drawn, per_line=2)


def _tail(values: NDArray) -> list[Point]:
    """Return the number of items with at least each count that occurs."""
    found = []
    for count in np.unique(values[values > 0]).tolist():
        items = int((values >= count).sum())
        found.append(Point(count, items, tip=f"at least {count:,}: {items:,}", size=2))
    return found


def line_chart(
    title: str,
    subtitle: str,
    panels: Mapping[str, Values],
    x: str,
    y: str,
    *,
    zero: bool = True,
    per_line: int = 3,
    is_drawn: bool = True,
) -> Chart:
    """Draw lines with a dot at each value, or with its interval.

    Args:
        panels: title of each panel → values with ``line`` (its name), ``x`` (a whole number, or the name of a look, at
            which the lines are side by side), ``y``, and optionally ``low`` and ``high``, and ``size`` of the dot.
        x, y: titles of the axes.
        zero: the axis that goes up holds 0.
        is_drawn: the dots are joined.
    """
    colours = coloured([value["line"] for values in panels.values() for value in values])
    apart = {line: (number + 0.5) / len(colours) * 0.6 - 0.3 for number, line in enumerate(colours)}
    drawn = []
    for name, values in panels.items():
        looks = list(dict.fromkeys(value["x"] for value in values if isinstance(value["x"], str)))
        ends = [value[end] for value in values for end in ("y", "low", "high") if value.get(end) is not None]
        numbers = [value["x"] for value in values if not looks]
        horizontal = ordinal(looks) if looks else linear(numbers, zero=False, whole=True, tight=True)
        lines = {line: Line(line, [], colour, is_drawn) for line, colour in colours.items()}
        for one in values:
            at = looks.index(one["x"]) + apart[one["line"]] if looks else one["x"]
            size = one.get("size", Point.size)
            lines[one["line"]].points.append(Point(at, one["y"], one.get("low"), one.get("high"), _tip(one), size))
        plane = Plane(horizontal, linear(ends, zero=zero))
        drawn.append(line_panel(name, [*lines.values()], plane, x, y, names=any(colours)))
    return Chart(title, subtitle, drawn, per_line=per_line)


def curve_chart(title: str, epochs: Values) -> Chart:
    """Draw the loss of a training, and its rsum on the validation split if measured, over the epochs.

    Args:
        epochs: as in ``Annotator.curve``.
    """
    curves = {"mean loss of a batch": [epoch["loss"] for epoch in epochs]}
    for name in epochs[0]["validation"]:
        if name.startswith("rsum"):
            curves[f"{name} on the validation split"] = [epoch["validation"][name] for epoch in epochs]
    panels = {
        name: [{"line": "", "x": epoch["number"], "y": value} for epoch, value in zip(epochs, values, strict=True)]
        for name, values in curves.items()
    }
    return line_chart(title, "", panels, "epoch", "", zero=False, per_line=2)


def rank_chart(columns: Sequence[str], ranks: Mapping[str, Mapping[str, int]], x: str) -> Chart:
    """Draw the rank of each model in each column, the first place on top: lines that cross where ranks change.

    Args:
        columns: versions, metrics or looks, in order.
        ranks: model → column → rank, 1 being the first.
        x: title of the columns.
    """
    colours = coloured(list(ranks))
    last = max((rank for one in ranks.values() for rank in one.values()), default=1)
    places = Scale(-last - 0.5, -0.5, [(-rank, str(rank)) for rank in range(1, last + 1)])
    plane = Plane(ordinal(columns), places, RANK * last)
    lines = []
    for model, one in ranks.items():
        known = [(number, one[column], column) for number, column in enumerate(columns) if column in one]
        points = [Point(at, -rank, tip=f"{model}, {column}: rank {rank}", size=5) for at, rank, column in known]
        lines.append(Line(model, points, colours[model]))
    return Chart("Ranks", "", [line_panel("ranks", lines, plane, x, "")])


def _tip(value: Mapping[str, Any]) -> str:
    """Return what is shown of a value under the pointer."""
    interval = f" ({_figure(value['low'])} to {_figure(value['high'])})" if value.get("low") is not None else ""
    place = ", ".join(filter(None, [value["line"], str(value["x"])]))
    return f"{place}: {_figure(value['y'])}{interval}"


def _figure(value: float) -> str:
    return tick_text(float(f"{value:.4g}"))
