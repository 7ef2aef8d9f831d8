"""What all charts are made of: the parts of Vega-Lite specifications, and their rendering as SVG, PNG or PDF."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import CounterpartError
from core.files.stored_files import whole_file

Spec = dict[str, Any]

INK = "#1d1b18"
INK_SOFT = "#5d5851"
LINE = "#e0dcd4"
PALE = "#f1efea"
STRONG = "#3048a8"
ON_PALE = "#111111"
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
    """Raise CounterpartError unless the path ends in one of ``FORMS`` and its folder exists."""
    if path.suffix not in FORMS:
        raise CounterpartError(f"Charts are {', '.join(FORMS)} files, not {path.name!r}; change the suffix.")
    if not path.parent.is_dir():
        raise CounterpartError(f"The folder {path.parent} of the chart {path.name} does not exist; create it first.")


def write_chart(spec: Spec, path: Path) -> None:
    """Draw a specification into a file. Raises CounterpartError as ``check_chart_path`` does."""
    check_chart_path(path)
    with whole_file(path) as part:
        part.write_bytes(converted(svg_of(spec), path.suffix))


def svg_of(spec: Spec) -> str:
    """Draw a specification as SVG."""
    # Takes a tenth of a second to import, which only a chart should cost.
    import vl_convert

    whole = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", **spec}
    return str(vl_convert.vegalite_to_svg(whole, config=CONFIG))


def converted(svg: str, suffix: str) -> bytes:
    """Return a drawn chart as a file of one of ``FORMS``; without Vega, in a tenth of a second."""
    import vl_convert

    if suffix == ".svg":
        return svg.encode()
    return bytes(vl_convert.svg_to_pdf(svg) if suffix == ".pdf" else vl_convert.svg_to_png(svg, scale=2))


FORMS = (".svg", ".png", ".pdf")


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


def distinct_lines(field: str, lines: Sequence[str]) -> Spec:
    """Return the encoding that gives each line of a field a colour and a dash of its own."""
    ranges = {"color": COLOURS, "strokeDash": DASHES}
    scale = {"domain": list(lines)}
    return {
        by: {"field": field, "title": None, "scale": scale | {"range": values}, "sort": None}
        for by, values in ranges.items()
    }
