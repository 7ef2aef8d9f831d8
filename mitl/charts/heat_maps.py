"""Heat maps: matrices in colours, with their figures."""

from collections.abc import Sequence
from math import isnan
from typing import Any

from numpy.typing import NDArray

from mitl.charts.drawing import Panel, across, element, width_of, words

CELL = 40  # pixels
HEAD = 24
STRONG = 0.6
"""How strong a colour is at most behind dark ink."""


def heat_map(title: str, names: Sequence[str], values: NDArray, *, form: str, scale: tuple[float, float]) -> Panel:
    """Draw a matrix (n, n), with its figures in the cells; the diagonal is empty.

    Args:
        form: format of the figures.
        scale: the figures with the palest and with the strongest colour.
    """
    n = len(names)
    palest, strongest = scale
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
                strength = min(max((value - palest) / (strongest - palest), 0.0), 1.0)
                box = {"x": across((column + 0.02) / n), "y": y + 1, "width": across(0.96 / n), "height": CELL - 2}
                drawn = element("rect", **box, rx=3, fill="accent", fill_opacity=0.06 + 0.94 * strength)
                middle: dict[str, Any] = {
                    "x": across((column + 0.5) / n),
                    "y": y + CELL / 2 + 4,
                    "text_anchor": "middle",
                }
                drawn += words(f"{value:{form}}", **middle, fill="accent-ink" if strength > STRONG else "ink")
                area += element("g", drawn, tip=tip)
    return Panel(title, HEAD + CELL * n, area, left, width, right_width=8)
