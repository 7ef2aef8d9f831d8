"""A chart of how the ranks of models move between metrics or versions."""

from collections.abc import Mapping, Sequence

from mitl.charts import COLOURS, DASHES, INK, Spec, plain_axis


def rank_chart(title: str, subtitle: str, columns: Sequence[str], ranks: Mapping[str, Mapping[str, int]]) -> Spec:
    """Draw how ranks move: a line a model over the columns, its name at both ends; rank 1 is on top.

    Args:
        columns: metrics or versions, in their order.
        ranks: model → column → rank, from 1; a column that a model lacks interrupts its line.
    """
    rows = [
        {"model": model, "column": column, "rank": places[column]}
        for model, places in ranks.items()
        for column in columns
        if column in places
    ]
    most = max((rank for places in ranks.values() for rank in places.values()), default=1)
    names = sorted(ranks)  # so that a model looks the same in each chart of a page
    x = {"field": "column", "type": "ordinal", "sort": None, "title": None, "axis": plain_axis("top")}
    scale = {"domain": [0.5, most + 0.5], "reverse": True, "nice": False, "zero": False}
    y = {"field": "rank", "type": "quantitative", "title": "rank", "scale": scale}
    ticks = {"values": list(range(1, most + 1)), "format": "d", "grid": False}
    colour = {"scale": {"domain": names, "range": COLOURS}, "field": "model", "legend": None}
    dash = {"scale": {"domain": names, "range": DASHES}, "field": "model", "legend": None}
    both = {"x": x, "y": y | {"axis": ticks}}
    ends = ((0, "right", -10), (-1, "left", 10))
    return {
        "title": {"text": title, "subtitle": subtitle, "offset": 16},
        "width": {"step": 150},
        "height": max(120, 26 * most),
        "data": {"values": rows},
        "encoding": both,
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"color": colour, "strokeDash": dash}},
            {"mark": {"type": "circle", "size": 60, "opacity": 1}, "encoding": {"color": colour}},
            *(_end_labels(ranks, columns[end], align, dx) for end, align, dx in ends if columns),
        ],
    }


def _end_labels(ranks: Mapping[str, Mapping[str, int]], column: str, align: str, dx: int) -> Spec:
    """Names beside the first or last column; models that share a rank share a label."""
    names: dict[int, list[str]] = {}
    for model, places in ranks.items():
        if column in places:
            names.setdefault(places[column], []).append(model)
    rows = [{"column": column, "rank": rank, "names": ", ".join(models)} for rank, models in names.items()]
    return {
        "data": {"values": rows},
        "mark": {"type": "text", "align": align, "dx": dx, "fontSize": 11, "color": INK},
        "encoding": {"text": {"field": "names"}},
    }
