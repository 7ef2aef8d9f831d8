"""Score runs on versions: means over queries with their intervals, and the values of single queries for tests."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from django.db import transaction
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.events import record
from core.files import StoredFile, write_arrays
from core.progress import Progress, silent, tracked
from counterpart_metrics import SCORED, Qrels
from counterpart_metrics.figures import Figure, figure_of
from counterpart_metrics.policies import DEFAULT, Policies
from counterpart_metrics.ranking_blocks import Block
from counterpart_metrics.ranking_files import model_names
from counterpart_metrics.targets import Reading, Target, Truncation
from dataset.models import Version
from dataset.version_files import load_positives
from evaluation.auditing.score_guards import guard_scores
from evaluation.models import Run, Score
from evaluation.scores.runs import (
    forget_file,
    original_target,
    read_run,
    register_annotators,
    register_file,
    target_of_collection,
)
from integrations.notifications import notify
from mitl.models import Direction

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Scored:
    """One model on one version or benchmark.

    ``figures[direction][metric]``; ``values`` are those of single queries, (Q,), NaN without a match. Entries that a
    list lacks count as wrong, so figures of a direction in ``truncated`` are lower bounds. ``run`` is None for
    rankings that are not registered. ``original`` has the figures on the original matches alone of the queries.
    """

    model: str
    figures: Mapping[Direction, Mapping[str, Figure]]
    values: Mapping[Direction, Mapping[str, Values]]
    truncated: Mapping[Direction, Truncation]
    run: Run | None = None
    original: Mapping[Direction, Mapping[str, Figure]] = field(default_factory=dict)


def evaluate_version(
    version: Version,
    *,
    rankings: Sequence[Path] = (),
    model: str = "",
    policies: Policies = DEFAULT,
    progress: Progress = silent,
) -> list[Scored]:
    """Register ranking files or, by default, the lists of the annotators of the version's rounds; score them on it.

    ``model`` names the model of a single file; several have the names of ``ranking_files.model_names``.
    Means are over the queries that have positives. Scoring the same rankings again replaces their scores. What other
    policies than the default ones give is returned instead, and not stored.
    Raises CounterpartError and stores nothing for rankings that cannot be read, lack a query with positives, or
    list an item twice among the ranks that count, and for files whose models would have one name.
    """
    runs: list[Run] = []
    try:
        names = [model] if model else model_names(rankings)
        with transaction.atomic():
            for path, name in zip(rankings, names, strict=True):
                runs.append(register_file(version.collection, path, model=name, progress=progress))
            if not rankings:
                runs = register_annotators(version)
            target, original = targets_of(version)
            every = tracked(runs, "models", progress, every=1)
            scored = [score_run(run, version, target, original, progress=progress) for run in every]
            guard_scores(version, progress=progress)
            if policies == DEFAULT:
                return scored
            return [one for run in runs for one in score_rankings(run.model, read_run(run), [target], policies)[0]]
    except BaseException:
        for run in runs:
            forget_file(run)
        raise


def score_run(run: Run, version: Version, target: Target, original: Target, *, progress: Progress = silent) -> Scored:
    """Score a run on a version, and on the original matches of its queries, and store the figures. Raises
    CounterpartError as ``score_rankings`` does."""
    (scored,), (of_original,) = score_rankings(run.model, read_run(run, progress=progress), [target, original])
    scored = replace(scored, run=run, original=of_original.figures)
    _store(run, version, scored)
    return scored


def score(run: Run, target: Target, *, progress: Progress = silent) -> Scored:
    """Score a run, and store nothing. Raises CounterpartError as ``score_rankings`` does."""
    (scored,) = score_rankings(run.model, read_run(run, progress=progress), [target])[0]
    return replace(scored, run=run)


def score_rankings(
    model: str, blocks: Iterable[Block], targets: Sequence[Target], policies: Policies = DEFAULT
) -> list[list[Scored]]:
    """Read rankings once and score them on each target; under a policy of intervals, at their highest and lowest.

    Raises CounterpartError for rankings that do not cover the queries, with their number, and as the policies do.
    """
    readings = [Reading(model, target, policies) for target in targets]
    for block in blocks:
        for reading in readings:
            reading.add(block)
    return [
        [
            scored_from(name, {Direction(one): of for one, of in values.items()}, truncated)
            for name, values in reading.values().items()
        ]
        for reading in readings
        for truncated in [{Direction(one): cut for one, cut in reading.truncated.items()}]
    ]


def scored_from(
    model: str, values: Mapping[Direction, Mapping[str, Values]], truncated: Mapping[Direction, Truncation]
) -> Scored:
    """Compute the figures of one model from the values of single queries."""
    figures = {
        direction: {name: figure_of(one) for name, one in metrics.items()} for direction, metrics in values.items()
    }
    return Scored(model, figures, values, truncated)


def target_of(version: Version) -> Target:
    """Return a version as a target of scoring."""
    qrels = {direction: Qrels.of(found) for direction, found in load_positives(version).items()}
    return target_of_collection(version.name, version.collection, SCORED, qrels)


def targets_of(version: Version) -> tuple[Target, Target]:
    """Return a version as a target of scoring, and the original matches of those of its queries that have a match on
    it, so that rankings of the one cover the other."""
    target = target_of(version)
    queries = {
        Direction(direction): np.concatenate([part.queries for part in parts])
        for direction, parts in target.parts.items()
    }
    return target, original_target(version.collection, SCORED, queries)


def score_everywhere(run: Run, *, progress: Progress = silent) -> str:
    """Score a run on every version of its collection; return a sentence that says where it was, and where not.

    Raises CounterpartError if there are versions and the run can be scored on none.
    """
    versions = run.collection.versions.order_by("released_at")
    failures = {}
    for version in versions:
        try:
            score_run(run, version, *targets_of(version), progress=progress)
        except CounterpartError as error:
            failures[version.name] = str(error)
    done = [version.name for version in versions if version.name not in failures]
    not_done = "".join(f" Not on {name}: {reason}" for name, reason in failures.items())
    if failures and not done:
        raise CounterpartError(f"{run} can be scored on no version of {run.collection}.{not_done}")
    return f"{run} is scored on {some_of(done) if done else 'no version yet'}.{not_done}"


def score_all_runs(version: Version, *, progress: Progress = silent) -> str:
    """Score on a version every run of its collection that is not yet, and guard its scores; return a sentence about
    it."""
    guard_scores(version, progress=progress)
    targets = targets_of(version)
    failures = []
    done = 0
    runs = unscored(version)
    for run in tracked(runs, "models", progress, every=1):
        try:
            score_run(run, version, *targets, progress=progress)
            done += 1
        except CounterpartError as error:
            failures.append(f"{run}: {error}")
    return " ".join([f"{done} of {len(runs)} runs are scored on {version}.", *failures])


def unscored(version: Version) -> list[Run]:
    """Return the runs of a version's collection whose rankings are known and that have no scores on it."""
    runs = Run.objects.filter(collection=version.collection).exclude(scores__version=version).order_by("pk")
    return [run for run in runs.select_related("collection", "retrieval") if run.has_lists]


def _store(run: Run, version: Version, scored: Scored) -> None:
    arrays = {
        f"{direction.value} {metric}": values
        for direction, metrics in scored.values.items()
        for metric, values in metrics.items()
    }
    kept = write_arrays(f"runs/values/{run.pk}-{version.name}", **arrays) if arrays else StoredFile("", "")
    with transaction.atomic():
        Score.objects.filter(run=run, version=version).delete()
        Score.objects.bulk_create(
            Score(
                run=run,
                version=version,
                metric=metric,
                direction=direction,
                values_file=kept.path,
                values_sha256=kept.sha256,
                original=on.value if (on := scored.original.get(direction, {}).get(metric)) and on.queries else None,
                **vars(figure),
            )
            for direction, metrics in scored.figures.items()
            for metric, figure in metrics.items()
            if figure.queries
        )
        record("evaluated", run, actor="command", version=version.name)
        notify("run.scored", f"/runs/{run.pk}", id=run.pk, model=run.model, version=version.name)
