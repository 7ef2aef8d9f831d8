"""The chart of scores: models with their ranks and intervals, a panel a metric or a version."""

from collections.abc import Sequence
from math import isnan

from evaluation.scores.boards import interval_text
from evaluation.scores.moves import Figures, ranks_of, values_of
from mitl.charts.bars import interval_chart
from mitl.charts.drawing import Chart


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
