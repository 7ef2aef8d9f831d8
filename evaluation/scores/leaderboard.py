"""The leaderboard: models by metrics in the layout of ECCV Caption's table 4, shared by page and command.

Averages of both directions come first, then each direction. Of several runs of a model the newest counts.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from core.errors import CounterpartError, some_of
from core.files.stored_files import read_arrays
from counterpart_metrics import SCORED
from counterpart_metrics.figures import Figure, average
from counterpart_statistics.significance import randomisation_pvalues
from dataset.models import Version
from dataset.versions.version_files import kept_guards
from evaluation.models import Run, Score
from evaluation.scores.boards import AVERAGE, PARTS, Board, Cell, Column, Row
from evaluation.scores.scoring import Scored, Values
from mitl.models import Direction

LEVEL = 0.05  # of significance


def estimand_of(version: Version) -> str:
    """Return what scores on a version are the means of."""
    return f"matches of version {version}"


def board_of(version: Version) -> Board:
    """Return the board of a version from its stored scores, best average mAP@R first."""
    runs: dict[str, Run] = {}
    scores: dict[int, list[Score]] = {}
    for one in Score.objects.filter(version=version).select_related("run").order_by("run__created_at", "run_id", "pk"):
        runs[one.run.model] = one.run
        scores.setdefault(one.run_id, []).append(one)
    return board_from((_stored(run, scores[run.pk]) for run in runs.values()), estimand=estimand_of(version))


def board_of_run(run: Run, version: Version) -> Board:
    """Return the stored scores of one run on a version as a board; without rows if there are none."""
    scores = list(run.scores.filter(version=version).order_by("pk"))
    return board_from([_stored(run, scores)] if scores else [], estimand=estimand_of(version))


def board_from(scored: Iterable[Scored], *, estimand: str = "", compare: bool = True) -> Board:
    """Return the board of scored models; ``compare``: with the marks of the best and of significance."""
    models = list(scored)
    known = dict.fromkeys(metric for one in models for metrics in one.figures.values() for metric in metrics)
    metrics = sorted(known, key=lambda metric: SCORED.index(metric) if metric in SCORED else len(SCORED))
    columns = [Column(part, metric) for part in PARTS for metric in metrics]
    figures = {one.model: _figures(one, metrics) for one in models}
    columns = [column for column in columns if any(column in found for found in figures.values())]
    by_name = {one.model: one for one in models}
    marks = {column: _marks(column, figures, by_name) if compare else {} for column in columns}
    rows = [
        Row(
            one.model,
            {
                column: Cell(figure, *marks[column].get(one.model, (False, False)), estimand=estimand)
                for column, figure in figures[one.model].items()
            },
            one.run,
            one.notes,
        )
        for one in models
    ]
    first = columns[0] if columns else None
    return Board(columns, sorted(rows, key=lambda row: _place(row, first)))


def caution_of(version: Version) -> str:
    """Say that scores on the version are biased, where a round of it asked a part of its pool; empty elsewhere."""
    partly = {one["name"]: one["judge"]["judge"] for one in version.manifest["rounds"] if "judge" in one}
    if not partly:
        return ""
    found = (
        f"{version} holds judgments on a part of a pool (round {some_of(list(partly))}). Unjudged pairs "
        "count as no match, so that these scores are biased"
    )
    audits = [name for name, judge in partly.items() if judge == "audit"]
    if audits:
        off = [abs(row["guarded"] - row["counted"]) for one in kept_guards(version) or [] for row in one["rows"]]
        by = f": by up to {max(off):.3f} in mAP@R, as far as the audit of random queries can show" if off else ""
        return f"{found}{by}. estimate {audits[0]} gives scores without this bias, with intervals."
    return f"{found}, but for R@1 of the annotators whose first hits were judged."


def _stored(run: Run, scores: Sequence[Score]) -> Scored:
    figures: dict[Direction, dict[str, Figure]] = {}
    values: dict[Direction, dict[str, Values]] = {}
    try:
        arrays = read_arrays(scores[0].values_of_queries) if scores[0].values_file else {}
    except CounterpartError:  # missing or changed; costs the marks of significance alone
        arrays = {}
    for one in scores:
        direction = Direction(one.direction)
        figures.setdefault(direction, {})[one.metric] = stored_figure(one)
        if (kept := arrays.get(f"{one.direction} {one.metric}")) is not None:
            values.setdefault(direction, {})[one.metric] = kept
    return Scored(run.model, figures, values, run=run)


def stored_figure(score: Score) -> Figure:
    """Return a stored score with its interval, NaN where none is stored."""
    low, high = (float("nan") if end is None else end for end in (score.low, score.high))
    return Figure(score.value, low, high, score.queries)


def _figures(scored: Scored, metrics: Sequence[str]) -> dict[Column, Figure]:
    found: dict[Column, Figure] = {}
    for metric in metrics:
        sides = {
            direction: scored.figures[direction][metric]
            for direction in Direction
            if metric in scored.figures.get(direction, {})
        }
        if len(sides) == len(Direction):
            found[Column(AVERAGE, metric)] = average(list(sides.values()))
        found |= {Column(direction.value, metric): figure for direction, figure in sides.items()}
    return found


def _comparable(scored: Scored, column: Column) -> Values | None:
    """Values of single queries whose mean is the figure of the column; of an average, each direction weighs half."""
    directions = list(Direction) if column.part == AVERAGE else [Direction(column.part)]
    sides = [scored.values.get(direction, {}).get(column.metric) for direction in directions]
    kept = [side[~np.isnan(side)] for side in sides if side is not None]
    if len(kept) < len(directions) or not all(map(len, kept)):
        return None
    total = sum(map(len, kept))
    return np.concatenate([side * total / (len(kept) * len(side)) for side in kept])


def _marks(
    column: Column, figures: Mapping[str, Mapping[Column, Figure]], scored: Mapping[str, Scored]
) -> dict[str, tuple[bool, bool]]:
    """Return for each of several models of a column whether it is the best, or not significantly different."""
    found = {model: columns[column].value for model, columns in figures.items() if column in columns}
    if len(found) < 2:
        return {}
    top = max(found.values())
    marks = {model: (value == top, False) for model, value in found.items()}
    best = _comparable(scored[next(model for model in found if found[model] == top)], column)
    # The same queries in the same order: both are those of the version.
    differences = {
        model: best - one
        for model, value in found.items()
        if value < top and (one := _comparable(scored[model], column)) is not None
        if best is not None and len(one) == len(best)
    }
    if differences:
        pvalues = randomisation_pvalues(np.stack(list(differences.values()), 1))
        marks |= {model: (False, bool(p >= LEVEL)) for model, p in zip(differences, pvalues, strict=True)}
    return marks


def _place(row: Row, first: Column | None) -> tuple[float, str]:
    cell = row.cells.get(first) if first else None
    return (-cell.figure.value if cell else 1.0, row.model)
