"""Charts of values with their intervals: over a few looks, and a row a value."""

from collections.abc import Mapping, Sequence
from typing import Any

from mitl.charts import COLOURS, DASHES, Spec, panel, titled, told_apart


def look_chart(title: str, subtitle: str, panels: Mapping[str, Sequence[Mapping[str, Any]]], x: str, y: str) -> Spec:
    """Draw lines over a few looks, with the interval of each value; at a look, the lines stand beside each other.

    Args:
        panels: title of each panel → values with ``line`` (its name), ``x`` (name of the look), ``y``, ``low`` and
            ``high``.
        x, y: titles of the axes.
    """
    lines = list(dict.fromkeys(value["line"] for values in panels.values() for value in values))
    apart = told_apart("line", lines)
    axis = {"grid": False, "labelAngle": 0}
    across = {
        "x": {"field": "x", "type": "ordinal", "sort": None, "title": x, "axis": axis},
        "xOffset": {"field": "line", "type": "nominal", "sort": lines},
        "color": apart["color"],
    }
    up = {"type": "quantitative", "title": y, "scale": {"zero": False, "nice": 5}}
    marks: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.75},
            "encoding": across | {"y": {"field": "low"} | up, "y2": {"field": "high"}},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 30}},
            "encoding": across | {"y": {"field": "y"} | up, "strokeDash": apart["strokeDash"]},
        },
    ]
    concat = [panel(name, values, width=340, height=200, layer=marks) for name, values in panels.items()]
    return titled(title, subtitle, columns=2, spacing=32, concat=concat)


def interval_chart(title: str, subtitle: str, panels: Mapping[str, Sequence[Mapping[str, Any]]], x: str) -> Spec:
    """Draw a dot with its interval on each row of a panel, and a line where the truth is known.

    Args:
        panels: title of each panel → rows with ``name``, ``value``, ``low``, ``high`` and perhaps ``truth``.
        x: title of the axis.
    """
    drawn = [_interval_panel(name, rows, x) for name, rows in panels.items()]
    return titled(title, subtitle, vconcat=drawn, spacing=24)


def _interval_panel(title: str, rows: Sequence[Mapping[str, Any]], x: str) -> Spec:
    row = {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 260}}
    across = {"type": "quantitative", "title": x, "scale": {"zero": False}}
    marks: list[Spec] = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": COLOURS[0]},
            "encoding": {"y": row, "x": {"field": "low"} | across, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "color": COLOURS[0]},
            "encoding": {"y": row, "x": {"field": "value"} | across},
        },
    ]
    if truth := [one["truth"] for one in rows if one.get("truth") is not None][:1]:
        marks.append(
            {
                "data": {"values": [{"truth": truth[0]}]},
                "mark": {"type": "rule", "strokeDash": DASHES[1], "color": COLOURS[1]},
                "encoding": {"x": {"field": "truth"} | across},
            }
        )
    return panel(title, rows, width=460, height={"step": 24}, layer=marks)
