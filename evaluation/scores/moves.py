"""How the scores and ranks of models move between metrics and between versions."""

from corpus.models import Collection
from counterpart_metrics.figures import Figure, average
from evaluation.models import Score
from evaluation.scores.boards import AVERAGE, Board
from evaluation.scores.leaderboard import stored_figure
from mitl.models import Direction

Moves = dict[str, dict[str, float]]
"""Model → column (a metric or a version) → value."""

Figures = dict[str, dict[str, Figure]]
"""The same with intervals."""


def history_of(collection: Collection, metric: str) -> Figures:
    """Return model → version → mean of both directions, versions by date, of a model's newest run on each version.

    A model that was scored in one direction alone is left out.
    """
    sides: dict[tuple[str, str], dict[str, Figure]] = {}
    scores = Score.objects.filter(run__collection=collection, metric=metric).select_related("run", "version")
    for one in scores.order_by("version__released_at", "run__created_at", "run_id"):
        sides.setdefault((one.run.model, one.version.name), {})[one.direction] = stored_figure(one)
    found: Figures = {}
    for (model, version), figures in sides.items():
        if len(figures) == len(Direction):
            found.setdefault(model, {})[version] = average(list(figures.values()))
    return found


def averages_of(board: Board) -> Figures:
    """Return model → metric → mean of both directions, or the only direction's where a board has one."""
    part = board.parts[0] if board.columns else AVERAGE
    return {
        row.model: {column.metric: cell.figure for column, cell in row.cells.items() if column.part == part}
        for row in board.rows
    }


def values_of(figures: Figures) -> Moves:
    """Return the values without their intervals."""
    return {model: {column: one.value for column, one in theirs.items()} for model, theirs in figures.items()}


def ranks_of(values: Moves) -> dict[str, dict[str, int]]:
    """Return the rank of every value in its column, 1 for the highest; equal values share a rank."""
    columns = dict.fromkeys(column for one in values.values() for column in one)
    ordered = {
        column: sorted((one[column] for one in values.values() if column in one), reverse=True) for column in columns
    }
    return {
        model: {column: ordered[column].index(value) + 1 for column, value in one.items()}
        for model, one in values.items()
    }
