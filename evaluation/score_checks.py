"""Scores of versions compared: with the same rankings scored again, and between two versions."""

from typing import Any

from core.errors import CounterpartError
from core.progress import Progress, silent
from dataset.models import Version
from dataset.verification import Check
from dataset.version_files import load_positives
from evaluation.models import Score
from evaluation.rankings import annotators_rankings
from evaluation.runs import score


def check_scores(version: Version, *, progress: Progress = silent) -> Check:
    """Score the annotators' rankings on the version again and compare the figures with the stored ones."""
    check = Check("scores")
    runs = {(run.model, run.sha256): run for run in version.runs.prefetch_related("scores")}
    try:
        positives = load_positives(version)
        for model in annotators_rankings(version) if runs else ():
            run = runs.pop((model.model, model.sha256), None)
            if run is None:
                continue
            again = score(model, positives).scores
            fresh = {(d.value, name): mean.value for d, means in again.items() for name, mean in means.items()}
            check.problems.extend(
                f"{run.model}, {one.direction} {one.metric}: stored {one.value:.6f}, scored again "
                f"{fresh.get((one.direction, one.metric), float('nan')):.6f}."
                for one in run.scores.all()
                if fresh.get((one.direction, one.metric)) != one.value
            )
    except CounterpartError as error:
        check.problems.append(str(error))
    if runs:
        names = ", ".join(sorted(run.model for run in runs.values()))
        check.notes.append(f"{len(runs)} runs were scored from files that are not stored: {names}.")
    return check


def score_changes(before: Version, after: Version) -> list[dict[str, Any]]:
    """Return a row for each figure of every model that was scored on both versions: before, after, and the change."""
    figures: dict[tuple[str, str, str], dict[int, float]] = {}
    for one in Score.objects.filter(run__version__in=(before, after)).select_related("run").order_by("run__created_at"):
        figures.setdefault((one.run.model, one.direction, one.metric), {})[one.run.version_id] = one.value
    return [
        {
            "model": model,
            "direction": direction,
            "metric": metric,
            "before": round(values[before.pk], 6),
            "after": round(values[after.pk], 6),
            "change": round(values[after.pk] - values[before.pk], 6),
        }
        for (model, direction, metric), values in sorted(figures.items())
        if len(values) == 2
    ]


def score_table(changes: list[dict[str, Any]]) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return the changes as a table: its columns, and for each model the score after and the change, in percent."""
    named = [(row["model"], f"{row['direction']} {row['metric']}", row) for row in changes]
    columns = list(dict.fromkeys(column for _, column, _ in named))
    cells = {
        (model, column): f"{100 * row['after']:.1f} ({round(100 * row['change'], 1) + 0:+.1f})"
        for model, column, row in named
    }
    models = dict.fromkeys(model for model, _, _ in named)
    return columns, [(model, [cells.get((model, column), "–") for column in columns]) for model in models]
