"""The scores on one version as a table: a row for each run, a column for each metric and direction."""

from dataclasses import dataclass

from dataset.models import Version
from evaluation.models import Score
from mitl.models import Direction


@dataclass(frozen=True)
class Cell:
    """``value`` in 0..1, None where the run was not measured so. ``best`` in its column."""

    value: float | None
    best: bool


@dataclass(frozen=True)
class Scoreboard:
    """``rows`` pair a model's name with its cells, in the order of ``metrics`` within each of ``directions``."""

    directions: list[Direction]
    metrics: list[str]
    rows: list[tuple[str, list[Cell]]]
    queries: dict[str, int]


def scoreboard(version: Version) -> Scoreboard:
    """Read every run's scores on ``version`` with one query."""
    scores = list(Score.objects.filter(run__version=version).select_related("run").order_by("pk"))
    directions = [direction for direction in Direction if any(score.direction == direction for score in scores)]
    metrics = list(dict.fromkeys(score.metric for score in scores))
    columns = [(direction, metric) for direction in directions for metric in metrics]
    values = {(score.run_id, score.direction, score.metric): score.value for score in scores}
    best = {
        column: max((score.value for score in scores if (score.direction, score.metric) == column), default=None)
        for column in columns
    }
    runs = {score.run_id: score.run.model for score in scores}
    rows = [
        (model, [_cell(values.get((run, *column)), best[column]) for column in columns]) for run, model in runs.items()
    ]
    return Scoreboard(
        directions, metrics, sorted(rows, key=lambda row: row[0]), {score.direction: score.queries for score in scores}
    )


def _cell(value: float | None, best: float | None) -> Cell:
    return Cell(value, value is not None and value == best)
