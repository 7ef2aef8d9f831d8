"""Charts of rows: bars, whole or in coloured parts, and dots with their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from mitl.charts.drawing import Chart, Key, Panel, across, element, width_of, words
from mitl.charts.scales import LABELS_UNDER, UNDER, Scale, across_axis, linear, tick_text

LEVEL_COLOURS = {level: f"level-{level}" for level in (1, 2, 3, 4)}
ROW = 26  # pixels
LONGEST_NAME = 24


@dataclass(frozen=True)
class RowOfMarks:
    """A row: its name, its marks (SVG in a row that begins at y = 0), and its figure as text."""

    name: str
    marks: str
    figure: str = ""


def row_panel(title: str, rows: Sequence[RowOfMarks], scale: Scale, x: str, behind: str = "") -> Panel:
    """Return a panel of rows over an axis, names at the left and figures at the right; ``behind`` is SVG."""
    names = width_of([row.name for row in rows], LONGEST_NAME)
    figures = width_of([row.figure for row in rows], LONGEST_NAME)
    height = ROW * len(rows)
    left = right = area = ""
    for number, row in enumerate(rows):
        y = ROW * number + ROW / 2 + 4
        left += words(row.name, most=LONGEST_NAME, x=names - 8, y=y, text_anchor="end", fill="ink")
        right += words(row.figure, most=LONGEST_NAME, x=figures, y=y, text_anchor="end")
        area += element("svg", row.marks, y=ROW * number, height=ROW, overflow="visible")
    axis = across_axis(scale, height, x)
    return Panel(title, height + (UNDER if x else LABELS_UNDER), axis + behind + area, left, names, right, figures)


def bar_chart(
    title: str,
    subtitle: str,
    panels: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    x: str,
    parts: Mapping[str, str] | None = None,
) -> Chart:
    """Draw horizontal bars, three panels a line. Bars of parts end at the longest bar of all panels.

    Args:
        panels: title of each panel → rows with ``name``, ``value`` and, where there are ``parts``, ``part``.
        x: title of the axes.
        parts: the parts of each bar, in order → colour; None: bars of one colour.
    """
    bars = {name: _by_name(rows, parts) for name, rows in panels.items()}
    longest = [sum(bar.values()) for panel in bars.values() for bar in panel.values()]
    drawn = []
    for name, panel in bars.items():
        scale = linear(longest if parts else [sum(bar.values()) for bar in panel.values()])
        rows = [_bar(row, bar, scale, parts or {}) for row, bar in panel.items()]
        drawn.append(row_panel(name, rows, scale, x))
    return Chart(title, subtitle, drawn, [Key(colour, part) for part, colour in (parts or {}).items()])


def _by_name(rows: Sequence[Mapping[str, Any]], parts: Mapping[str, str] | None) -> dict[str, dict[str, float]]:
    """Return the lengths of the parts of each bar, in the order of the parts."""
    bars: dict[str, dict[str, float]] = {}
    for row in rows:
        bars.setdefault(row["name"], dict.fromkeys(parts or [""], 0.0))[row["part"] if parts else ""] += (
            row["value"] or 0
        )
    return bars


def _bar(name: str, bar: Mapping[str, float], scale: Scale, colours: Mapping[str, str]) -> RowOfMarks:
    marks = ""
    start = 0.0
    for part, value in bar.items():
        if value:
            tip = f"{name}{f', {part}' if part else ''}: {_figure(value)}"
            length = scale.share(value) - scale.share(0)
            colour = colours.get(part, "accent")
            box = {"x": across(start), "y": 5, "width": across(length), "height": ROW - 10}
            marks += element("rect", tip=tip, **box, fill=colour)
            start += length
    return RowOfMarks(name, marks, "" if colours else _figure(sum(bar.values())))


def _figure(value: float) -> str:
    return tick_text(round(value, 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 3))


def interval_chart(
    title: str,
    subtitle: str,
    panels: Mapping[str, Sequence[Mapping[str, Any]]],
    x: str,
    *,
    one_scale: bool = False,
) -> Chart:
    """Draw a dot with its interval on each row of a panel, and a line where the truth is known.

    Args:
        panels: title of each panel → rows with ``name``, ``value``, ``low``, ``high`` (nan or None: no interval) and
            optionally ``truth`` and ``figure``, the values as text.
        x: title of the axis.
        one_scale: all panels have the same scale.
    """
    shared = linear([end for rows in panels.values() for end in _ends(rows)], zero=False)
    drawn = []
    for name, rows in panels.items():
        scale = shared if one_scale else linear(_ends(rows), zero=False)
        truth = next((row["truth"] for row in rows if row.get("truth") is not None), None)
        line = "" if truth is None else _truth_line(scale.share(truth), ROW * len(rows), truth)
        drawn.append(row_panel(name, [_whisker(row, scale) for row in rows], scale, x, line))
    return Chart(title, subtitle, drawn, per_line=1)


def _ends(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    ends = [row.get(end) for row in rows for end in ("value", "low", "high", "truth")]
    return [end for end in ends if end is not None and not isnan(end)]


def _truth_line(share: float, height: float, truth: float) -> str:
    place = {"x1": across(share), "x2": across(share), "y1": 0, "y2": height}
    return element(
        "line", tip=f"known: {_figure(truth)}", **place, stroke="level-3", stroke_width=2, stroke_dasharray="6 3"
    )


def _whisker(row: Mapping[str, Any], scale: Scale) -> RowOfMarks:
    ends = [row[end] for end in ("low", "high") if row[end] is not None and not isnan(row[end])]
    interval = "–".join(dict.fromkeys(map(_figure, ends))) if ends else ""
    value = _figure(row["value"])
    figure = row.get("figure") or " ".join(dict.fromkeys([value, *filter(None, [interval])]))
    middle = ROW / 2
    marks = ""
    if len(ends) == 2:
        low, high = (across(scale.share(end)) for end in ends)
        marks = element("line", x1=low, x2=high, y1=middle, y2=middle, stroke="accent", stroke_width=2)
    marks += element("circle", cx=across(scale.share(row["value"])), cy=middle, r=4.5, fill="accent")
    tip = f"{row['name']}: {figure}"
    # A mark as wide as the row is easy to hit with a pointer.
    target = element("rect", x=0, y=0, width="100%", height=ROW, fill="none", pointer_events="all")
    return RowOfMarks(row["name"], element("g", target + marks, tip=tip), figure)
