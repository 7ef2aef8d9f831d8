"""Charts of models: their scores with intervals, and how their ranks change from one version, metric or look to the
next."""

from collections.abc import Mapping, Sequence
from math import isnan

from evaluation.scores.boards import interval_text
from evaluation.scores.moves import Figures, ranks_of, values_of
from mitl.charts.bars import interval_chart
from mitl.charts.drawing import Chart
from mitl.charts.lines import Line, Plane, Point, coloured, line_panel
from mitl.charts.scales import Scale, ordinal

RANK = 30  # pixels


def score_chart(columns: Sequence[str], figures: Figures, *, one_scale: bool = False) -> Chart:
    """Draw a panel a column, with the models in the order of ``figures`` behind their ranks, in percent."""
    ranks = ranks_of(values_of(figures))
    panels = {
        column: [
            {
                "name": f"{ranks[model][column]}  {model}",
                "value": 100 * one[column].value,
                "low": 100 * one[column].low,
                "high": 100 * one[column].high,
                "figure": " ".join(filter(None, [f"{100 * one[column].value:.1f}", interval_text(one[column])])),
            }
            for model, one in figures.items()
            if column in one and not isnan(one[column].value)
        ]
        for column in columns
    }
    return interval_chart("Scores", "", panels, "percent", one_scale=one_scale)


def rank_chart(columns: Sequence[str], ranks: Mapping[str, Mapping[str, int]], x: str) -> Chart:
    """Draw the rank of each model in each column, the first place on top: lines that cross where ranks change.

    Args:
        columns: versions, metrics or looks, in order.
        ranks: model → column → rank, 1 being the first.
        x: title of the columns.
    """
    colours = coloured(list(ranks))
    last = max((rank for one in ranks.values() for rank in one.values()), default=1)
    places = Scale(-last - 0.5, -0.5, [(-rank, str(rank)) for rank in range(1, last + 1)])
    plane = Plane(ordinal(columns), places, RANK * last)
    lines = []
    for model, one in ranks.items():
        known = [(number, one[column], column) for number, column in enumerate(columns) if column in one]
        points = [Point(at, -rank, tip=f"{model}, {column}: rank {rank}", size=5) for at, rank, column in known]
        lines.append(Line(model, points, colours[model]))
    return Chart("Ranks", "", [line_panel("Ranks", lines, plane, x, "rank")])
