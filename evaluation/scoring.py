"""Hold rankings against a released version: a Run with its Scores for every model."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from core.errors import CounterpartError, some_of
from core.events import record
from core.progress import Progress, silent, tracked
from corpus.models import Caption, Image
from dataset.models import Version
from dataset.positives import load_positives
from evaluation.metrics import Mean, map_at_r, mean_over_queries, r_precision, recall_at_k
from evaluation.models import Run, Score
from evaluation.rankings import Ranked, Rankings, annotators_rankings, read_rankings
from mitl.models import Direction

Metric = Callable[[Sequence[int], Collection[int]], float]
METRICS: Mapping[str, Metric] = {"R@1": recall_at_k, "R-Precision": r_precision, "mAP@R": map_at_r}

SHOWN = 5


@dataclass(frozen=True)
class Scored:
    """One model's means: ``scores[direction][metric]``.

    ``cut_off[direction]`` counts the queries with more positives than their list has places: the missing
    places are counted as wrong, so their R-Precision and mAP@R are lower bounds.
    """

    model: str
    scores: Mapping[Direction, Mapping[str, Mean]]
    cut_off: Mapping[Direction, int]


def evaluate_version(version: Version, *, rankings: Path | None = None, progress: Progress = silent) -> list[Scored]:
    """Score a rankings file, or without one the lists of the annotators behind the version's rounds; store all.

    Means are over the queries that have positives. The same rankings scored again replace their own scores.
    Raises CounterpartError, with nothing stored, for rankings that cannot be read, that lack a query
    with positives, or that name an item twice among the places that count.
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
    """Take every metric of ``METRICS`` in each direction that the model ranks in."""
    scores, cut_off = {}, {}
    for direction, lists in model.lists.items():
        wanted = {query: items for query, items in positives[direction].items() if items}
        _check(model, direction, lists, wanted)
        try:
            scores[direction] = {name: mean_over_queries(metric, lists, wanted) for name, metric in METRICS.items()}
        except ValueError as error:
            raise CounterpartError(f"{model.model}, {direction.label}: {error}") from error
        cut_off[direction] = sum(len(lists[query]) < len(items) for query, items in wanted.items())
    return Scored(model.model, scores, cut_off)


def _check(model: Rankings, direction: Direction, lists: Ranked, wanted: Mapping[int, Set[int]]) -> None:
    missing = [query for query in wanted if query not in lists]
    if not missing:
        return
    asking = Image if direction == Direction.IMAGE_TO_CAPTION else Caption
    keys = list(asking._default_manager.filter(pk__in=missing[:SHOWN]).values_list("key", flat=True))
    raise CounterpartError(
        f"{len(missing)} of {len(wanted)} queries {direction.label} have no ranking by {model.model}, "
        f"{some_of(keys)} first; rank every query of the version."
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
