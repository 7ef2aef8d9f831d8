"""Charts as SVG: what a chart is made of, and its drawing as a file.

A panel is drawn once, in colours by their names in the style sheet ``tokens.css``. Positions across are in percent, so
that a panel is as wide as its place on a page or in a file, and its letters keep their size.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

from core.errors import CounterpartError
from core.files.stored_files import whole_file

LIGHT = {
    "ink": "#1d1b18",
    "ink-soft": "#5d5851",
    "line": "#e0dcd4",
    "line-strong": "#8f897f",
    "paper-raised": "#ffffff",
    "accent": "#3048a8",
    "accent-ink": "#ffffff",
    "violet": "#7a4fb0",
    "good": "#1a6b3c",
    "level-1": "#00566b",
    "level-2": "#327e4c",
    "level-3": "#ab5800",
    "level-4": "#99123f",
}
"""Colours of charts, by their names in the style sheet, as they are in files."""
COLOURS = ("accent", "level-3", "level-1", "level-4", "level-2", "line-strong", "violet", "ink")
"""Of the lines of a chart, in order; distinguishable with any colour blindness."""
FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'DejaVu Sans', sans-serif"
FORMS = (".svg", ".png", ".pdf")
LETTER = 6.6  # pixels, about, of a letter of 12 pixels
PANEL = 380  # pixels, of a panel in a file
GAP = 24


@dataclass(frozen=True)
class Panel:
    """A plot: SVG in the ``area``, ``left`` of it and ``right`` of it; the margins have widths in pixels, the area the
    rest. ``label`` says in words what it shows; ``unit`` is of the values."""

    title: str
    height: int
    area: str
    left: str = ""
    left_width: int = 0
    right: str = ""
    right_width: int = 0
    unit: str = ""

    @property
    def label(self) -> str:
        """Its title and the values of its marks, as HTML."""
        return "; ".join(filter(None, [escape(self.title), *re.findall("<title>(.*?)</title>", self.area)]))


@dataclass(frozen=True)
class Key:
    """What a colour means; ``figure`` is a value of it, where the key says one."""

    colour: str
    label: str
    figure: str = ""


@dataclass(frozen=True)
class Chart:
    """Panels under a title; ``per_line`` of them are side by side where there is room."""

    title: str
    subtitle: str
    panels: Sequence[Panel]
    key: Sequence[Key] = ()
    per_line: int = 3

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Chart":
        """Return a chart that was stored with ``dataclasses.asdict``."""
        panels = [Panel(**one) for one in stored["panels"]]
        return cls(**stored | {"panels": panels, "key": [Key(**one) for one in stored["key"]]})


def element(name: str, content: str = "", /, *, tip: object = "", **attributes: object) -> str:
    """Return an SVG element with SVG inside; ``tip`` is shown under the pointer. Names of attributes have dashes for
    underscores, and colours are those of LIGHT."""
    written = [f' {key.replace("_", "-")}="{_value(key, value)}"' for key, value in attributes.items()]
    return f"<{name}{''.join(written)}>{f'<title>{escape(str(tip))}</title>' if tip else ''}{content}</{name}>"


def _value(key: str, value: object) -> str:
    if key in ("fill", "stroke") and value in LIGHT:
        return f"var(--{value})"
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else escape(str(value))


def words(content: str, *, most: int = 60, **attributes: object) -> str:
    """Return text; a longer one than ``most`` letters is cut, and whole under the pointer."""
    is_cut = len(content) > most
    text = escape(content[: most - 1] + "…" if is_cut else content)
    return element("text", text, tip=content if is_cut else "", **{"fill": "ink-soft", "font_size": 12, **attributes})


def across(share: float) -> str:
    """Return a position across the area: ``0.25`` becomes ``25%``."""
    return f"{round(100 * share, 2):g}%"


def width_of(texts: Sequence[str], most: int) -> int:
    """Return about how many pixels the longest text takes, cut after ``most`` letters."""
    return round(LETTER * min(max(map(len, texts), default=0), most)) + 10


def check_chart_path(path: Path) -> None:
    """Raise CounterpartError unless the path ends in one of ``FORMS`` and its folder exists."""
    if path.suffix not in FORMS:
        raise CounterpartError(f"Charts are {', '.join(FORMS)} files, not {path.name!r}; change the suffix.")
    if not path.parent.is_dir():
        raise CounterpartError(f"The folder {path.parent} of the chart {path.name} does not exist; create it first.")


def write_chart(chart: Chart, path: Path) -> None:
    """Draw a chart into a file. Raises CounterpartError as ``check_chart_path`` does."""
    check_chart_path(path)
    with whole_file(path) as part:
        part.write_bytes(chart_bytes(chart, path.suffix))


def chart_bytes(chart: Chart, suffix: str) -> bytes:
    """Return a chart as a file of one of ``FORMS``, on white ground."""
    svg = svg_of(chart)
    if suffix == ".svg":
        return svg.encode()
    # Takes a tenth of a second to import, which only a chart should cost.
    import vl_convert

    return bytes(vl_convert.svg_to_pdf(svg) if suffix == ".pdf" else vl_convert.svg_to_png(svg, scale=2))


def svg_of(chart: Chart) -> str:
    """Return a chart as one SVG, in the light colours."""
    per_line = min(chart.per_line, max(len(chart.panels), 1))
    width = per_line * (PANEL + GAP) + GAP
    parts = [words(chart.title, most=width // 8, x=GAP, y=34, fill="ink", font_size=15, font_weight=600)]
    y = 34
    for line in wrap(chart.subtitle, width // 7):
        y += 18
        parts.append(words(line, most=width, x=GAP, y=y))
    y += 26
    for first in range(0, len(chart.panels), per_line):
        line_of_panels = chart.panels[first : first + per_line]
        parts += [_placed(panel, GAP + place * (PANEL + GAP), y) for place, panel in enumerate(line_of_panels)]
        y += max(panel.height for panel in line_of_panels) + 48
    for one in chart.key:
        parts.append(element("rect", x=GAP, y=y - 10, width=12, height=12, rx=3, fill=one.colour))
        parts.append(words(f"{one.label} {one.figure}".strip(), most=width, x=GAP + 20, y=y, fill="ink"))
        y += 20
    ground = element("rect", width="100%", height="100%", fill="paper-raised")
    whole = {"xmlns": "http://www.w3.org/2000/svg", "width": width, "height": y, "font_family": FONT}
    svg = element("svg", ground + "".join(parts), **whole)
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda match: LIGHT[match[1]], svg)


def _placed(panel: Panel, x: int, y: int) -> str:
    """Return a panel at a place of a file, under its title."""
    title = words(panel.title, x=x, y=y + 4, fill="ink", font_size=13)
    unit = words(panel.unit, x=x, y=y + 20)
    body = {"y": y + 28, "height": panel.height}
    area = PANEL - panel.left_width - panel.right_width
    left = element("svg", panel.left, x=x, width=max(panel.left_width, 1), **body)
    middle = element("svg", panel.area, x=x + panel.left_width, width=area, overflow="visible", **body)
    right = element("svg", panel.right, x=x + panel.left_width + area, width=max(panel.right_width, 1), **body)
    return title + unit + left + middle + right
