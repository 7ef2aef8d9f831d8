"""How similarly metrics rank models, of a leaderboard or a CSV file: tau-b, Spearman, ranks (table 5, figure 4)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.parameters import Option, Parameters
from core.progress import Progress
from core.text import counted
from corpus.match_files import number_of
from corpus.tables import columns_of, read_rows
from counterpart_statistics.correlation import correlations, spearman, tau_b
from dataset.models import Version
from evaluation.analyses import Findings, matrix_rows, matrix_table, plain, text_table
from evaluation.scores.board_tables import SOURCE
from evaluation.scores.leaderboard import board_of, caution_of
from evaluation.scores.moves import Moves, averages_of, ranks_of, values_of
from mitl.charts.drawing import Chart
from mitl.charts.heat_maps import heat_map
from mitl.charts.lines import rank_chart

TITLES = {"tau_b": "Kendall's tau-b", "spearman": "Spearman's correlation"}

Matrices = Mapping[str, NDArray[np.float64]]


class BenchmarksParameters(Parameters):
    versions: Annotated[
        tuple[str, ...], "versions whose leaderboards are compared, comma-separated", Option(metavar="V1,V2")
    ] = ()
    scores: Annotated[
        Path | None, "CSV file instead: a row a model, its name first, then a score a metric; an empty cell is unknown"
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.versions) == bool(self.scores):
            raise CounterpartError("Name either --versions or a file of --scores.")


def analyse(parameters: BenchmarksParameters, *, progress: Progress) -> Findings:
    """Correlate every two metrics over the models that have both.

    Scores of versions are the means of both directions. Raises CounterpartError for fewer than two models or metrics,
    an unknown version, and a file that cannot be read.
    """
    table = _read(parameters.scores) if parameters.scores else _of_versions(parameters.versions)
    metrics = list(dict.fromkeys(metric for found in table.values() for metric in found))
    if min(len(table), len(metrics)) < 2:
        raise CounterpartError(
            f"There are {counted(len(table), 'model')} with {len(metrics)} metrics; correlations need two of each. "
            "Score more models with evaluate."
        )
    values = np.array([[found.get(metric, np.nan) for metric in metrics] for found in table.values()])
    matrices = {"tau_b": correlations(values, tau_b), "spearman": correlations(values, spearman)}
    ranks = ranks_of(table)
    figures = {
        "models": list(table),
        "metrics": metrics,
        "ranks": ranks,
        **{name: plain(matrix.tolist()) for name, matrix in matrices.items()},
    }
    versions = Version.objects.filter(name__in=parameters.versions)
    titles = {name: f"{title} over {len(table)} models" for name, title in TITLES.items()}
    tables = [matrix_table(titles[name], metrics, matrix, ".2f") for name, matrix in matrices.items()]
    rank_rows = [[model, *(str(one.get(metric, "-")) for metric in metrics)] for model, one in ranks.items()]
    tables.append(f"Rank of each model\n{text_table(['', *metrics], rank_rows)}")
    text = "\n\n".join([*tables, *filter(None, map(caution_of, versions))])
    maps = [heat_map(TITLES[name], metrics, one, form=".2f", scale=(-1, 1)) for name, one in matrices.items()]
    chart = Chart(
        "Do metrics rank models alike?",
        "1: the same order of models, -1: the reverse. Darker means more alike. Lines cross where ranks change.",
        [*maps, *rank_chart(metrics, ranks, "").panels],
        per_line=1,
    )
    return Findings(figures, text, chart, matrix_rows(metrics, matrices))


def _of_versions(names: Sequence[str]) -> Moves:
    """Metrics are named with their version where there are several."""
    scores: Moves = {}
    for name in names:
        for model, values in values_of(averages_of(board_of(Version.objects.named(name)))).items():
            titled = {metric if len(names) == 1 else f"{name} {metric}": value for metric, value in values.items()}
            scores.setdefault(model, {}).update(titled)
    return scores


def _read(path: Path) -> Moves:
    head = columns_of(path)
    rows = [row for _, row in read_rows(path, {name: (name,) for name in head})]
    models = [str(row[head[0]]) for row in rows]
    if repeated := sorted({name for name in models if models.count(name) > 1}):
        raise CounterpartError(f"{path} repeats {counted(len(repeated), 'name')}: {some_of(repeated)}.")
    metrics = [metric for metric in head[1:] if metric not in SOURCE]
    try:
        return {
            model: {name: score for name in metrics if (score := number_of(row[name], name)) is not None}
            for model, row in zip(models, rows, strict=True)
        }
    except ValueError as error:
        raise CounterpartError(f"A score in {path} is invalid: {error}. Leave unknown scores empty.") from error
