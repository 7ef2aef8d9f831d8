"""Charts: Vega-Lite specifications, and their rendering as SVG or PNG."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.files import whole_file

Spec = dict[str, Any]

INK, INK_SOFT, LINE = "#1d1b18", "#5d5851", "#e0dcd4"
PALE, STRONG, ON_PALE = "#f1efea", "#3048a8", "#111111"
# Distinguishable with any colour blindness, and by their dashes.
COLOURS = ["#3048a8", "#ab5800", "#00566b", "#99123f", "#327e4c", "#8f897f", "#7a4fb0", "#1d1b18"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 3], [12, 3], [4, 4], [10, 2, 2, 2, 2, 2]]
FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'DejaVu Sans', sans-serif"
CONFIG: Spec = {
    "background": "#ffffff",
    "font": FONT,
    "padding": 16,
    "title": {"color": INK, "subtitleColor": INK_SOFT, "fontSize": 15, "subtitleFontSize": 12, "anchor": "start"},
    "axis": {
        "labelColor": INK_SOFT,
        "titleColor": INK_SOFT,
        "titleFontWeight": "normal",
        "gridColor": LINE,
        "domainColor": LINE,
        "tickColor": LINE,
        "labelFontSize": 11,
        "titleFontSize": 12,
    },
    "legend": {"labelColor": INK, "labelFontSize": 12, "symbolSize": 700, "symbolType": "stroke", "rowPadding": 6},
    "view": {"stroke": None},
}


def check_chart_path(path: Path) -> None:
    """Raise CounterpartError unless the path ends in .svg or .png and its folder exists."""
    if path.suffix not in WRITERS:
        raise CounterpartError(f"Charts are {' or '.join(WRITERS)} files, not {path.name!r}; change the suffix.")
    if not path.parent.is_dir():
        raise CounterpartError(f"The folder {path.parent} of the chart {path.name} does not exist; create it first.")


def write_chart(spec: Spec, path: Path) -> None:
    """Draw a specification into a file. Raises CounterpartError as ``check_chart_path`` does."""
    check_chart_path(path)
    with whole_file(path) as part:
        part.write_bytes(chart_bytes(spec, path.suffix))


def chart_bytes(spec: Spec, suffix: str) -> bytes:
    """Draw a specification as ``.svg`` or ``.png``."""
    return WRITERS[suffix]({"$schema": "https://vega.github.io/schema/vega-lite/v5.json", **spec})


def _svg(spec: Spec) -> bytes:
    # Takes a tenth of a second to import, which only a chart should cost.
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, config=CONFIG)).encode()


def _png(spec: Spec) -> bytes:
    import vl_convert

    return bytes(vl_convert.vegalite_to_png(spec, config=CONFIG, scale=2))


WRITERS = {".svg": _svg, ".png": _png}


def titled(title: str, subtitle: str | None = None, **parts: Any) -> Spec:
    """Return a chart of ``parts``, such as ``hconcat`` panels, under its title."""
    under = {} if subtitle is None else {"subtitle": subtitle}
    return {"title": {"text": title, "offset": 16, **under}, **parts}


def panel(title: str, rows: Sequence[Mapping[str, Any]], *, width: Any, height: Any, **parts: Any) -> Spec:
    """Return one panel of a chart, which draws ``rows``; ``width`` and ``height`` in pixels, or by the step."""
    return {
        "title": {"text": title, "fontSize": 13, "fontWeight": "normal"},
        "width": width,
        "height": height,
        "data": {"values": [dict(row) for row in rows]},
        **parts,
    }


def told_apart(field: str, lines: Sequence[str]) -> Spec:
    """Return the encoding that tells the lines of a field apart, by colours and by dashes."""
    ranges = {"color": COLOURS, "strokeDash": DASHES}
    scale = {"domain": list(lines)}
    return {
        by: {"field": field, "title": None, "scale": scale | {"range": values}, "sort": None}
        for by, values in ranges.items()
    }


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
        {"annotator": annotator, "count": int(count), "items": int((found >= count).sum())}
        for annotator, found in counts.items()
        for count in np.unique(found[found > 0])
    ]
    most = max((int(found.max()) for found in counts.values()), default=1)
    n_items = max((len(found) for found in counts.values()), default=1)
    whole = {"type": "quantitative", "scale": {"type": "log", "nice": False}}
    encoding = {
        "x": {"field": "count", "title": x, "axis": _powers(most)} | whole,
        "y": {"field": "items", "title": y, "axis": _powers(n_items)} | whole,
        **told_apart("annotator", annotators),
    }
    return panel(title, rows, width=340, height=260, mark={"type": "line", "strokeWidth": 2}, encoding=encoding)


def _powers(most: int) -> Spec:
    """An axis with ticks at 1, 2, 5, 10, 20, ... up to ``most``."""
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
    losses = [{"epoch": one["number"], "value": one["loss"]} for one in epochs]
    panels = [_curve_panel("mean loss of a batch", losses, COLOURS[1])]
    validated = epochs[0]["validation"] if epochs else {}
    for name in (name for name in validated if name.startswith("rsum")):
        measured = [{"epoch": one["number"], "value": one["validation"][name]} for one in epochs]
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
            # To the next tick, so that panels of other heights stand level.
            "y": {"field": "y", "type": "quantitative", "title": y, "scale": {"nice": 5}},
            **told_apart("line", lines),
        },
    }
    concat = [panel(name, values, width=240, height=180, **drawn) for name, values in panels.items()]
    return titled(title, subtitle, columns=3, spacing=32, concat=concat)
