"""Scores of versions compared: with the same rankings scored again, and between two versions."""

from typing import Any

from core.errors import CounterpartError
from core.progress import Progress, silent, tracked
from core.text import counted
from counterpart_metrics import SCORED
from dataset.models import Version
from dataset.releases.verification import Check
from evaluation.models import Run, Score
from evaluation.scores.scoring import score, target_of
from mitl.models import Direction

ROUNDING = 1e-12  # figures of an earlier program were summed in another order


def check_scores(version: Version, *, progress: Progress = silent) -> Check:
    """Score the runs of a version on it again and compare the figures with the stored ones."""
    check = Check("scores")
    of_version = Score.objects.filter(version=version)
    runs = Run.objects.filter(scores__version=version).distinct().select_related("collection", "retrieval")
    not_kept = [run.model for run in runs if not run.has_lists]
    try:
        target = target_of(version)
        kept = [run for run in runs if run.has_lists]
        for run in tracked(kept, "models", progress, every=1):
            figures = score(run, target).figures
            fresh = {(d.value, name): one.value for d, metrics in figures.items() for name, one in metrics.items()}
            check.problems.extend(
                f"{run.model}, {one.direction} {one.metric}: stored {one.value:.6f}, scored again "
                f"{fresh.get((one.direction, one.metric), float('nan')):.6f}."
                for one in of_version.filter(run=run)
                if abs(fresh.get((one.direction, one.metric), float("inf")) - one.value) > ROUNDING
            )
    except CounterpartError as error:
        check.problems.append(str(error))
    if not_kept:
        names = ", ".join(sorted(not_kept))
        check.notes.append(
            f"{counted(len(not_kept), 'run was', 'runs were')} scored from files that are not stored: {names}."
        )
    return check


def score_changes(before: Version, after: Version) -> list[dict[str, Any]]:
    """Return a row for each figure of every model that was scored on both versions: before, after, and the change."""
    figures: dict[tuple[str, str, str], dict[int, float]] = {}
    for one in Score.objects.filter(version__in=(before, after)).select_related("run").order_by("run__created_at"):
        figures.setdefault((one.run.model, one.direction, one.metric), {})[one.version_id] = one.value
    return [
        {
            "model": model,
            "direction": direction,
            "metric": metric,
            "before": round(values[before.pk], 6),
            "after": round(values[after.pk], 6),
            "change": round(values[after.pk] - values[before.pk], 6),
        }
        for (model, direction, metric), values in sorted(
            figures.items(), key=lambda figure: (figure[0][0], figure[0][1], SCORED.index(figure[0][2]))
        )
        if len(values) == 2
    ]


def score_table(changes: list[dict[str, Any]]) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return the changes as a table: its metrics, and for each model and direction the score after and the change, in
    percent."""
    metrics = list(dict.fromkeys(row["metric"] for row in changes))
    rows: dict[str, dict[str, str]] = {}
    for row in changes:
        cells = rows.setdefault(f"{row['model']}, {Direction(row['direction']).label}", {})
        change = round(100 * row["change"], 1)
        cells[row["metric"]] = f"{100 * row['after']:.1f} ({f'{change:+.1f}' if change else '='})"
    return metrics, [(name, [cells.get(metric, "–") for metric in metrics]) for name, cells in rows.items()]
