"""Runs: score rankings on a released version, store a Run with its Scores per model, and print tables."""

import csv
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from django.db import transaction

from core.errors import CounterpartError, some_of
from core.events import record
from core.progress import Progress, silent, tracked
from corpus.models import Caption, Image
from dataset.models import Version
from dataset.version_files import load_positives
from evaluation import metrics
from evaluation.metrics import Mean, mean_over_queries
from evaluation.models import Run, Score
from evaluation.rankings import Ranked, Rankings, annotators_rankings, read_rankings
from mitl.models import Direction

METRICS = {name: metrics.METRICS[name] for name in ("R@1", "R-Precision", "mAP@R")}
COLUMNS = [(direction, metric) for direction in Direction for metric in METRICS]
HEADS = [f"{direction.value} {metric}" for direction, metric in COLUMNS]
SHOWN = 5


@dataclass(frozen=True)
class Scored:
    """One model's means: ``scores[direction][metric]``.

    ``cut_off[direction]`` is the number of queries with more positives than entries in their list. The missing
    entries count as wrong, so their R-Precision and mAP@R are lower bounds.
    """

    model: str
    scores: Mapping[Direction, Mapping[str, Mean]]
    cut_off: Mapping[Direction, int]


def evaluate_version(version: Version, *, rankings: Path | None = None, progress: Progress = silent) -> list[Scored]:
    """Score a rankings file or, by default, the lists of the annotators of the version's rounds; store all scores.

    Means are over the queries that have positives. Scoring the same rankings again replaces their scores.
    Raises CounterpartError and stores nothing for rankings that cannot be read, lack a query with positives, or
    list an item twice among the ranks that count.
    """
    positives = load_positives(version)
    models: Iterable[Rankings]
    models = [read_rankings(rankings, version.collection)] if rankings else list(annotators_rankings(version))
    scored = []
    with transaction.atomic():
        for model in tracked(models, "models", progress, every=1):
            scored.append(score(model, positives))
            _store(version, model, scored[-1])
    return scored


def score(model: Rankings, positives: Mapping[Direction, Mapping[int, Set[int]]]) -> Scored:
    """Compute every metric of ``METRICS`` in each direction that the rankings have."""
    scores, cut_off = {}, {}
    for direction, lists in model.lists.items():
        wanted = {query: items for query, items in positives[direction].items() if items}
        _check(model, direction, lists, wanted)
        try:
            found = metrics.find(metrics.Rankings.of(lists), metrics.Qrels.of(wanted))
        except ValueError as error:
            raise CounterpartError(f"{model.model}, {direction.label}: {error}") from error
        scores[direction] = {name: mean_over_queries(metric(found)) for name, metric in METRICS.items()}
        cut_off[direction] = int((found.lengths < found.qrels.positives).sum())
    return Scored(model.model, scores, cut_off)


def _check(model: Rankings, direction: Direction, lists: Ranked, wanted: Mapping[int, Set[int]]) -> None:
    missing = [query for query in wanted if query not in lists]
    if not missing:
        return
    asking = Image if direction == Direction.IMAGE_TO_CAPTION else Caption
    keys = list(asking._default_manager.filter(pk__in=missing[:SHOWN]).values_list("key", flat=True))
    raise CounterpartError(
        f"{len(missing)} of {len(wanted)} queries {direction.label} have no ranking by {model.model}, "
        f"for example {some_of(keys)}. Rank every query of the version."
    )


def _store(version: Version, model: Rankings, scored: Scored) -> None:
    run, _ = Run.objects.get_or_create(version=version, model=model.model, sha256=model.sha256)
    run.scores.all().delete()
    Score.objects.bulk_create(
        Score(run=run, metric=metric, direction=direction, value=mean.value, queries=mean.queries)
        for direction, metrics in scored.scores.items()
        for metric, mean in metrics.items()
        if mean.queries
    )
    record("evaluated", run, actor="command", version=version.name)


def plain_table(scored: Sequence[Scored]) -> str:
    """Return percentages with one decimal, one row per model, and a note about lists that are too short."""
    width = max(len(model.model) for model in scored)
    lines = ["  ".join([" " * width, *HEADS])]
    for model in scored:
        cells = [cell.rjust(len(head)) for cell, head in zip(_cells(model), HEADS, strict=True)]
        lines.append("  ".join([model.model.ljust(width), *cells]))
    return "\n".join([*lines, *_notes(scored)])


def csv_table(scored: Sequence[Scored]) -> str:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", *HEADS])
    writer.writerows([model.model, *_cells(model)] for model in scored)
    return text.getvalue().rstrip("\n")


def latex_table(scored: Sequence[Scored]) -> str:
    """Return a tabular for LaTeX's booktabs package."""
    rows = [" & ".join([_escaped(model.model), *_cells(model)]) + r" \\" for model in scored]
    head = " & ".join(["Model", *HEADS]) + r" \\"
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * len(HEADS)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def figures(scored: Sequence[Scored]) -> dict[str, dict[str, dict[str, float | int]]]:
    """Return model → direction → metric → mean in 0..1, with the numbers of queries and of lists that are too short."""
    return {
        model.model: {
            direction.value: {
                **{metric: mean.value for metric, mean in metrics.items()},
                "queries": next(iter(metrics.values())).queries,
                "lists_shorter_than_r": model.cut_off[direction],
            }
            for direction, metrics in model.scores.items()
        }
        for model in scored
    }


def _cells(model: Scored) -> list[str]:
    means = [model.scores.get(direction, {}).get(metric) for direction, metric in COLUMNS]
    return [f"{100 * mean.value:.1f}" if mean and mean.queries else "-" for mean in means]


def _notes(scored: Sequence[Scored]) -> list[str]:
    return [
        f"{model.model} {direction.value}: {count} queries have more positives than entries in their list; "
        "the missing entries count as wrong."
        for model in scored
        for direction, count in model.cut_off.items()
        if count
    ]


def _escaped(name: str) -> str:
    return name.replace("\\", r"\textbackslash{}").replace("_", r"\_").replace("&", r"\&").replace("%", r"\%")
