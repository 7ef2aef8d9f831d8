"""Heat maps: matrices in colours, with their figures."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mitl.charts.drawing import ON_PALE, PALE, STRONG, Spec, panel, titled


def heat_maps(title: str, subtitle: str, maps: Sequence[Sequence[Spec]]) -> Spec:
    """Lay out heat maps (``heat_map``) in rows."""
    each_its_own = {"resolve": {"scale": {"color": "independent"}}}
    rows = [{"hconcat": list(row), "spacing": 40, **each_its_own} for row in maps]
    return titled(title, subtitle, vconcat=rows, spacing=24, **each_its_own)


def heat_map(title: str, names: Sequence[str], values: NDArray, *, form: str, scale: tuple[float, float]) -> Spec:
    """Draw a matrix (n, n), with its figures in the cells; the diagonal is empty.

    Args:
        form: format of the figures (d3-format).
        scale: the figures with the palest and with the strongest colour.
    """
    n = len(names)
    cells = [
        {"row": names[i], "column": names[j], "value": float(values[i, j])}
        for i in range(n)
        for j in range(n)
        if i != j and not np.isnan(values[i, j])
    ]
    axis = {"type": "nominal", "sort": None, "title": None, "scale": {"domain": list(names), "padding": 0.04}}
    encoding = {
        "x": {"field": "column", "axis": _plain_axis("top")} | axis,
        "y": {"field": "row", "axis": _plain_axis("left")} | axis,
    }
    layer = _coloured_figures(form, *scale)
    return panel(title, cells, width={"step": 76}, height={"step": 44}, encoding=encoding, layer=layer)


def _coloured_figures(form: str, palest: float, strongest: float) -> list[Spec]:
    """Return the colour of a cell, and its figure in a readable ink."""
    turn = palest + 0.65 * (strongest - palest)
    colours = {"domain": [palest, strongest], "range": [PALE, STRONG], "interpolate": "rgb", "clamp": True}
    value = {"field": "value", "type": "quantitative"}
    light = {"test": f"datum.value {'>' if strongest > palest else '<'} {turn}", "value": "#ffffff"}
    return [
        {
            "mark": {"type": "rect", "cornerRadius": 3},
            "encoding": {"color": value | {"legend": None, "scale": colours}},
        },
        {
            "mark": {"type": "text", "fontSize": 12},
            "encoding": {"text": value | {"format": form}, "color": {"condition": light, "value": ON_PALE}},
        },
    ]


def _plain_axis(orient: str) -> Spec:
    return {"orient": orient, "domain": False, "ticks": False, "grid": False, "labelAngle": 0, "labelLimit": 72}
