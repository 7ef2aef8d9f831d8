"""Heat maps: matrices in colours, with their figures."""

from collections.abc import Sequence
from math import isnan

from numpy.typing import NDArray

from mitl.charts.drawing import Chart, Panel, across, element, width_of, words

CELL = 40  # pixels
HEAD = 24
STRONG = 0.6
"""How strong a colour is at most behind dark ink."""


def heat_maps(title: str, subtitle: str, maps: Sequence[Sequence[Panel]]) -> Chart:
    """Lay out heat maps (``heat_map``) in rows."""
    return Chart(title, subtitle, [panel for row in maps for panel in row], per_line=max(map(len, maps), default=1))


def heat_map(title: str, names: Sequence[str], values: NDArray, *, form: str, scale: tuple[float, float]) -> Panel:
    """Draw a matrix (n, n), with its figures in the cells; the diagonal is empty.

    Args:
        form: format of the figures.
        scale: the figures with the palest and with the strongest colour.
    """
    n = len(names)
    width = width_of(names, 14)
    left = area = ""
    for row in range(n):
        y = HEAD + CELL * row
        left += words(names[row], most=14, x=width - 8, y=y + CELL / 2 + 4, text_anchor="end", fill="ink")
        area += words(names[row], most=max(4, 40 // n), x=across((row + 0.5) / n), y=HEAD - 8, text_anchor="middle")
        for column in range(n):
            value = float(values[row, column])
            if row != column and not isnan(value):
                tip = f"{names[row]}, {names[column]}: {value:{form}}"
                area += _cell(column / n, y, 1 / n, f"{value:{form}}", _strength(value, scale), tip)
    return Panel(title, HEAD + CELL * n, area, left, width, right_width=8)


def _strength(value: float, scale: tuple[float, float]) -> float:
    palest, strongest = scale
    return min(max((value - palest) / (strongest - palest), 0.0), 1.0)


def _cell(start: float, y: float, width: float, figure: str, strength: float, tip: str) -> str:
    box = {"x": across(start + 0.02 * width), "y": y + 1, "width": across(0.96 * width), "height": CELL - 2, "rx": 3}
    ink = "accent-ink" if strength > STRONG else "ink"
    drawn = element("rect", **box, fill="accent", fill_opacity=0.06 + 0.94 * strength)
    drawn += words(figure, x=across(start + width / 2), y=y + CELL / 2 + 4, text_anchor="middle", fill=ink)
    return element("g", drawn, tip=tip)
