"""Charts of the page of designs: width by cost, and matches by judgments."""

from collections.abc import Mapping, Sequence

from counterpart_statistics.auditing.audit_designs import AuditDesign
from counterpart_statistics.auditing.plan_basis import DirectionBasis
from mitl.charts.drawing import COLOURS, DASHES, INK, Spec, distinct_lines, titled
from mitl.models import Direction


def pareto_chart(
    designs: Sequence[AuditDesign], best: Sequence[AuditDesign], chosen: AuditDesign, metric: str, *, width: float
) -> Spec:
    """Draw cost against width: a dot for each design, a line through the ``best``, a cross at the chosen one, a line at
    the target width."""

    def place(one: AuditDesign) -> dict[str, float]:
        return {"cost": float(one.cost), "width": one.widest(metric)}

    axes = {
        "x": {"field": "cost", "type": "quantitative", "title": "cost in US dollars", "axis": {"grid": False}},
        "y": {"field": "width", "type": "quantitative", "title": f"width of {metric}"},
    }
    front = sorted(map(place, best), key=lambda one: one["cost"])
    return {
        "title": {"text": "Cost and width of designs", "offset": 16},
        "width": 460,
        "height": 260,
        "layer": [
            {
                "data": {"values": [{"width": width}]},
                "mark": {"type": "rule", "strokeDash": DASHES[1], "color": COLOURS[1]},
                "encoding": {"y": axes["y"]},
            },
            {
                "data": {"values": [place(one) for one in designs]},
                "mark": {"type": "point", "filled": True, "size": 24, "color": COLOURS[5], "opacity": 1},
                "encoding": axes,
            },
            {
                "data": {"values": front},
                "mark": {
                    "type": "line",
                    "interpolate": "step-after",
                    "strokeWidth": 2,
                    "color": COLOURS[0],
                    "point": {"size": 40, "color": COLOURS[0]},
                },
                "encoding": axes,
            },
            {
                "data": {"values": [place(chosen)]},
                "mark": {"type": "point", "shape": "cross", "filled": True, "size": 220, "color": INK, "opacity": 1},
                "encoding": axes,
            },
        ],
    }


def matches_chart(sides: Mapping[str, DirectionBasis]) -> Spec | None:
    """Draw the matches found by each share of the judgments, a line for each direction; None without a curve."""
    rows = [
        {"direction": Direction(name).label, "share": share, "matches": found}
        for name, side in sides.items()
        for share, found in side.curve
    ]
    if not rows:
        return None
    across = {
        "field": "share",
        "type": "quantitative",
        "title": "share of the judgments",
        "axis": {"format": "%", "grid": False},
        "scale": {"domain": [0, 1]},
    }
    return titled(
        "Matches by judgments",
        "the most probable pairs first",
        width=460,
        height=220,
        data={"values": rows},
        mark={"type": "line", "strokeWidth": 2},
        encoding={
            "x": across,
            "y": {"field": "matches", "type": "quantitative", "title": "matches"},
            **distinct_lines("direction", list(dict.fromkeys(str(row["direction"]) for row in rows))),
        },
    )
