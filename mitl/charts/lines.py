"""Charts of lines and of dots, some with the interval of each value."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mitl.charts.drawing import COLOURS, DASHES, Spec, distinct_lines, panel, titled


def tail_chart(title: str, subtitle: str, panels: Mapping[str, Mapping[str, NDArray]], x: str, y: str) -> Spec:
    """Draw the number of items with at least each count, log-log, a line an annotator.

    Args:
        panels: title of each panel → annotator → counts of items.
        x, y: titles of the axes.
    """
    annotators = list(dict.fromkeys(annotator for counts in panels.values() for annotator in counts))
    drawn = [_tail_panel(name, counts, annotators, x, y) for name, counts in panels.items()]
    return titled(title, subtitle, hconcat=drawn, spacing=40)


def _tail_panel(title: str, counts: Mapping[str, NDArray], annotators: Sequence[str], x: str, y: str) -> Spec:
    rows = [
        {"annotator": annotator, "count": int(count), "items": int((values >= count).sum())}
        for annotator, values in counts.items()
        for count in np.unique(values[values > 0])
    ]
    most = max((int(values.max()) for values in counts.values()), default=1)
    n_items = max((len(values) for values in counts.values()), default=1)
    whole = {"type": "quantitative", "scale": {"type": "log", "nice": False}}
    encoding = {
        "x": {"field": "count", "title": x, "axis": _powers(most)} | whole,
        "y": {"field": "items", "title": y, "axis": _powers(n_items)} | whole,
        **distinct_lines("annotator", annotators),
    }
    return panel(title, rows, width=340, height=260, mark={"type": "line", "strokeWidth": 2}, encoding=encoding)


def _powers(most: int) -> Spec:
    """Return an axis with ticks at 1, 2, 5, 10, 20, ... up to ``most``."""
    ticks = [lead * 10**power for power in range(len(str(most))) for lead in (1, 2, 5)]
    return {"values": [tick for tick in ticks if tick <= most], "format": "~s"}


def level_chart(title: str, subtitle: str, panels: Mapping[str, Sequence[Mapping[str, Any]]], x: str, y: str) -> Spec:
    """Draw a dot a level, sized by its number of items.

    Args:
        panels: title of each panel → levels with ``positives``, ``items`` and ``uncertainty``.
        x, y: titles of the axes.
    """
    whole = {"type": "quantitative", "scale": {"zero": False}}
    dots = {
        "mark": {"type": "circle", "color": COLOURS[0], "opacity": 0.75},
        "encoding": {
            "x": {"field": "positives", "title": x, "axis": {"tickMinStep": 1, "format": "d"}} | whole,
            "y": {"field": "uncertainty", "title": y} | whole,
            "size": {"field": "items", "type": "quantitative", "legend": None, "scale": {"range": [20, 400]}},
        },
    }
    drawn = [panel(name, levels, width=300, height=220, **dots) for name, levels in panels.items()]
    return titled(title, subtitle, hconcat=drawn, spacing=40)


def curve_chart(title: str, epochs: Sequence[Mapping[str, Any]]) -> Spec:
    """Draw the loss of a training, and its rsum on the validation split if measured, over the epochs.

    Args:
        epochs: as in ``Annotator.curve``.
    """
    losses = [{"epoch": epoch["number"], "value": epoch["loss"]} for epoch in epochs]
    panels = [_curve_panel("mean loss of a batch", losses, COLOURS[1])]
    validated = epochs[0]["validation"] if epochs else {}
    for name in (name for name in validated if name.startswith("rsum")):
        measured = [{"epoch": epoch["number"], "value": epoch["validation"][name]} for epoch in epochs]
        panels.append(_curve_panel(f"{name} on the validation split", measured, COLOURS[0]))
    return titled(title, hconcat=panels, spacing=40)


def _curve_panel(title: str, rows: Sequence[Mapping[str, float]], colour: str) -> Spec:
    whole = {"tickMinStep": 1, "format": "d", "grid": False}
    mark = {"type": "line", "strokeWidth": 2, "color": colour, "point": {"color": colour, "size": 24}}
    encoding = {
        "x": {"field": "epoch", "type": "quantitative", "title": "epoch", "axis": whole, "scale": {"zero": False}},
        "y": {"field": "value", "type": "quantitative", "title": None, "scale": {"zero": False}},
    }
    return panel(title, rows, width=300, height=160, mark=mark, encoding=encoding)


def line_chart(title: str, subtitle: str, panels: Mapping[str, Sequence[Mapping[str, Any]]], x: str, y: str) -> Spec:
    """Draw lines with a dot at each value.

    Args:
        panels: title of each panel → values with ``line`` (its name), ``x`` (a whole number) and ``y``.
        x, y: titles of the axes.
    """
    lines = list(dict.fromkeys(value["line"] for values in panels.values() for value in values))
    at = [value["x"] for values in panels.values() for value in values]
    few = {"values": list(range(min(at), max(at) + 1))} if at and max(at) - min(at) < 10 else {}
    whole = {"tickMinStep": 1, "format": "d", "grid": False, **few}  # that step alone leaves a tick between 1 and 2
    drawn = {
        "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 30}},
        "encoding": {
            "x": {"field": "x", "type": "quantitative", "title": x, "axis": whole, "scale": {"zero": False}},
            # To the next tick, so that panels of other heights are level.
            "y": {"field": "y", "type": "quantitative", "title": y, "scale": {"nice": 5}},
            **distinct_lines("line", lines),
        },
    }
    concat = [panel(name, values, width=240, height=180, **drawn) for name, values in panels.items()]
    return titled(title, subtitle, columns=3, spacing=32, concat=concat)


def look_chart(title: str, subtitle: str, panels: Mapping[str, Sequence[Mapping[str, Any]]], x: str, y: str) -> Spec:
    """Draw lines over a few looks, with the interval of each value; at a look, the lines are side by side.

    Args:
        panels: title of each panel → values with ``line`` (its name), ``x`` (name of the look), ``y``, ``low`` and
            ``high``.
        x, y: titles of the axes.
    """
    lines = list(dict.fromkeys(value["line"] for values in panels.values() for value in values))
    apart = distinct_lines("line", lines)
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
        panels: title of each panel → rows with ``name``, ``value``, ``low``, ``high`` and optionally ``truth``.
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
    if truth := [row["truth"] for row in rows if row.get("truth") is not None][:1]:
        marks.append(
            {
                "data": {"values": [{"truth": truth[0]}]},
                "mark": {"type": "rule", "strokeDash": DASHES[1], "color": COLOURS[1]},
                "encoding": {"x": {"field": "truth"} | across},
            }
        )
    return panel(title, rows, width=460, height={"step": 24}, layer=marks)
