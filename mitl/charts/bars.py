"""Bar charts: horizontal bars, whole or in coloured parts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mitl.charts.drawing import COLOURS, Spec, panel, titled

LEVEL_COLOURS = {1: "#00566b", 2: "#327e4c", 3: "#ab5800", 4: "#99123f"}  # as on the pages of judges and staff


def bar_chart(
    title: str,
    subtitle: str,
    panels: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    x: str,
    parts: Mapping[str, str] | None = None,
) -> Spec:
    """Draw horizontal bars, three panels a line. Bars of parts end at the longest bar of all panels.

    Args:
        panels: title of each panel → rows with ``name``, ``value`` and, where there are ``parts``, ``part``.
        x: title of the axes.
        parts: the parts of each bar, in order → colour; None: bars of one colour.
    """
    # Rounded: shares that sum to a hair over 100% would lengthen the axis to the next tick.
    end = round(max((length for rows in panels.values() for length in _lengths(rows)), default=0), 6) if parts else None
    drawn = [_bar_panel(name, rows, x, parts, end) for name, rows in panels.items()]
    return titled(title, subtitle, concat=drawn, columns=3, spacing=32)


def _lengths(rows: Sequence[Mapping[str, Any]]) -> Iterable[float]:
    lengths: Counter[str] = Counter()  # of whole bars
    for row in rows:
        lengths[row["name"]] += row["value"] or 0
    return lengths.values()


def _bar_panel(
    title: str, rows: Sequence[Mapping[str, Any]], x: str, parts: Mapping[str, str] | None, end: float | None
) -> Spec:
    coloured: Spec = {}
    values = [dict(row) for row in rows]
    if parts:
        order = list(parts)
        values = [row | {"place": order.index(row["part"])} for row in values]
        scale = {"domain": order, "range": list(parts.values())}
        legend = {"symbolType": "square", "symbolSize": 120, "orient": "bottom", "columns": 2, "labelLimit": 320}
        coloured = {
            "color": {"field": "part", "type": "nominal", "title": None, "scale": scale, "legend": legend},
            "order": {"field": "place", "type": "quantitative"},
        }
    names = {"domain": list(dict.fromkeys(row["name"] for row in rows))}
    longest = {"domainMax": end} if end else {}
    encoding = {
        "y": {"field": "name", "type": "nominal", "title": None, "axis": {"labelLimit": 220}, "scale": names},
        "x": {"field": "value", "type": "quantitative", "title": x or None, "scale": longest},
        **coloured,
    }
    mark = {"type": "bar", "color": COLOURS[0]}
    return panel(title, values, width=260, height={"step": 24}, mark=mark, encoding=encoding)
