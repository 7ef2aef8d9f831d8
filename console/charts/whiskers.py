"""Panels of dots with their intervals that a template draws: a row a model, its rank, and its figure in words.

Places are percentages of the scale of a panel, as in ``inline_bars``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan

from counterpart_metrics.figures import Figure
from evaluation.scores.boards import interval_text
from evaluation.scores.moves import Figures, ranks_of, values_of

STEPS = 20
"""Of a scale from 0 to 1; the scale of a panel ends at some of them."""

Scale = tuple[float, float]


@dataclass(frozen=True)
class Whisker:
    """A dot at ``at`` with a line from ``start`` to ``end``; no line if the interval is empty."""

    name: str
    rank: int
    value: float
    interval: str
    at: float
    start: float
    end: float


@dataclass(frozen=True)
class Panel:
    title: str
    low: float
    high: float
    rows: Sequence[Whisker]


def panels_of(columns: Sequence[str], figures: Figures, *, one_scale: bool = False) -> list[Panel]:
    """Return a panel a column, with the models in the order of ``figures``; on scales of their own or on one."""
    ranks = ranks_of(values_of(figures))
    by_column = {column: {model: one[column] for model, one in figures.items() if column in one} for column in columns}
    shared = _scale([figure for column in by_column.values() for figure in column.values()])
    panels = []
    for column, theirs in by_column.items():
        scale = shared if one_scale else _scale(list(theirs.values()))
        rows = [_whisker(model, ranks[model][column], figure, scale) for model, figure in theirs.items()]
        panels.append(Panel(column, *scale, rows))
    return panels


def _scale(figures: Sequence[Figure]) -> Scale:
    ends = [end for one in figures for end in (one.value, one.low, one.high) if not isnan(end)]
    low = floor(min(ends, default=0) * STEPS)
    high = ceil(max(ends, default=1) * STEPS)
    return low / STEPS, max(high, low + 1) / STEPS


def _whisker(name: str, rank: int, figure: Figure, scale: Scale) -> Whisker:
    low, high = scale
    at, start, end = (
        round(100 * (place - low) / (high - low), 3) if not isnan(place) else 0.0
        for place in (figure.value, figure.low, figure.high)
    )
    return Whisker(name, rank, figure.value, interval_text(figure), at, start, end)
