"""Score runs on versions: means over queries with their intervals, and the values of single queries for tests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError, some_of
from core.events import record
from core.files.stored_files import StoredFile, write_arrays
from core.progress import Progress, silent, tracked
from counterpart_metrics import SCORED, Qrels
from counterpart_metrics.figures import Figure, figure_of
from counterpart_metrics.needed_lists import needs_of
from counterpart_metrics.policies import DEFAULT, Policies
from counterpart_metrics.ranking_blocks import Block
from counterpart_metrics.ranking_files import model_names
from counterpart_metrics.targets import Reading, Target
from dataset.models import Version
from dataset.versions.version_files import load_positives
from evaluation.auditing.score_guards import guard_scores
from evaluation.models import Run, Score
from evaluation.scores.runs import (
    OpenRun,
    kept,
    open_annotators,
    open_file,
    open_run,
    original_target,
    read_run,
    target_of_collection,
)
from integrations.notifications import notify
from mitl.models import Direction

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Scored:
    """One model on one version or benchmark.

    ``figures[direction][metric]``; ``values`` are those of single queries, (Q,), NaN without a match. ``notes`` say
    what else a reader of the figures has to know. ``run`` is None for rankings that are not registered. ``original``
    has the figures on the original matches alone of the queries.
    """

    model: str
    figures: Mapping[Direction, Mapping[str, Figure]]
    values: Mapping[Direction, Mapping[str, Values]]
    notes: Sequence[str] = ()
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

    ``model`` names the model of a single file; several have the names of ``ranking_files.model_names``. Means are over
    the queries that have positives. Scoring the same rankings again replaces their scores. What other policies than the
    default ones give is returned instead, and not stored. Raises CounterpartError and stores nothing for rankings that
    cannot be read, leave out a query with positives, or list an item twice among the ranks that count, and for files
    whose models would have one name.
    """
    names = [model] if model else model_names(rankings)
    files = [
        open_file(version.collection, path, model=name, progress=progress)
        for path, name in zip(rankings, names, strict=True)
    ]
    opened = files or open_annotators(version)
    targets = targets_of(version)
    every = tracked(opened, "models", progress, every=1)
    found = [_scored_on(targets, one, policies) for one in every]
    guard_scores(version, progress=progress)
    stored = _store(opened, [{version: scored} for scored, *_ in found])
    return stored if policies == DEFAULT else [one for _, *of_policies in found for one in of_policies]


def score(run: Run, target: Target, *, progress: Progress = silent) -> Scored:
    """Score a run, and store nothing. Raises CounterpartError as ``score_rankings`` does."""
    reading = Reading(run.model, target)
    ((scored,),) = score_rankings(read_run(run, needs=needs_of([reading]), progress=progress), [reading])
    return replace(scored, run=run)


def score_rankings(blocks: Iterable[Block], readings: Sequence[Reading]) -> list[list[Scored]]:
    """Read rankings once; return the figures of each reading; under a policy of intervals, at their highest and lowest.

    Raises CounterpartError for rankings that do not cover the queries, with their number, and as the policies do.
    """
    for block in blocks:
        _add(block, readings)
    return list(map(_figures, readings))


def _scored_on(targets: Sequence[Target], opened: OpenRun, policies: Policies = DEFAULT) -> list[Scored]:
    """Read rankings once; return their figures on the first target, with those of the second as ``original``, and where
    the policies are no default ones, what these give. Raises CounterpartError as ``score_rankings`` does."""
    readings = [Reading(opened.run.model, target) for target in targets]
    others = [Reading(opened.run.model, targets[0], policies)] if policies != DEFAULT else []
    every = [*readings, *others]
    scored, original, *more = score_rankings(opened.blocks(needs_of(every)), every)
    return [_with_original(scored, original), *chain.from_iterable(more)]


def _with_original(scored: list[Scored], original: list[Scored]) -> Scored:
    # The default policies leave no interval.
    (one,) = scored
    (of_original,) = original
    return replace(one, original=of_original.figures)


def _add(block: Block, readings: Iterable[Reading]) -> None:
    for reading in readings:
        reading.add(block)


def _figures(reading: Reading) -> list[Scored]:
    notes = reading.notes
    return [
        scored_from(name, {Direction(one): of for one, of in values.items()}, notes)
        for name, values in reading.values().items()
    ]


def scored_from(model: str, values: Mapping[Direction, Mapping[str, Values]], notes: Sequence[str] = ()) -> Scored:
    """Compute the figures of one model from the values of single queries."""
    figures = {
        direction: {name: figure_of(one) for name, one in metrics.items()} for direction, metrics in values.items()
    }
    return Scored(model, figures, values, notes)


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


def score_everywhere(opened: OpenRun) -> str:
    """Score rankings on every version of their collection, and register their run; return a sentence that says where
    it was scored, and where not.

    Raises CounterpartError and stores nothing if there are versions and the run can be scored on none.
    """
    run = opened.run
    versions = run.collection.versions.order_by("released_at")
    readings = {version: [Reading(run.model, target) for target in targets_of(version)] for version in versions}
    refused: dict[Version, str] = {}
    for block in opened.blocks(needs_of(chain.from_iterable(readings.values()))):
        for version in readings.keys() - refused.keys():
            with _noted(refused, version):
                _add(block, readings[version])
    done: dict[Version, Scored] = {}
    for version in [one for one in readings if one not in refused]:
        with _noted(refused, version):
            done[version] = _with_original(*map(_figures, readings[version]))
    not_done = "".join(f" Not on {version}: {refused[version]}" for version in readings if version in refused)
    if refused and not done:
        raise CounterpartError(f"{run} can be scored on no version of {run.collection}.{not_done}")
    _store([opened], [done])
    return f"{run} is scored on {some_of(list(map(str, done))) if done else 'no version yet'}.{not_done}"


@contextmanager
def _noted(refused: dict[Version, str], version: Version) -> Iterator[None]:
    """Note why a version refuses rankings; they may do for others."""
    try:
        yield
    except CounterpartError as error:
        refused[version] = str(error)


def score_all_runs(version: Version, *, progress: Progress = silent) -> str:
    """Score on a version every run of its collection without scores on it, and guard them; return a sentence."""
    guard_scores(version, progress=progress)
    targets = targets_of(version)
    failures = []
    runs = unscored(version)
    for run in tracked(runs, "models", progress, every=1):
        opened = open_run(run, progress=progress)
        try:
            scored, *_ = _scored_on(targets, opened)
        except CounterpartError as error:
            failures.append(f"{run}: {error}")
        else:
            _store([opened], [{version: scored}])
    return " ".join([f"{len(runs) - len(failures)} of {len(runs)} runs are scored on {version}.", *failures])


def unscored(version: Version) -> list[Run]:
    """Return the runs of a version's collection whose rankings are known and that have no scores on it."""
    runs = Run.objects.filter(collection=version.collection).exclude(scores__version=version).order_by("pk")
    return [run for run in runs.select_related("collection", "retrieval") if run.has_lists]


def _store(opened: Sequence[OpenRun], found: Sequence[Mapping[Version, Scored]]) -> list[Scored]:
    """Register the runs, and replace what is stored of each on the versions: all of them, or after an error nothing."""
    files = [
        {version: _stored_values(one.run, version, scored) for version, scored in of_run.items()}
        for one, of_run in zip(opened, found, strict=True)
    ]
    with kept(opened) as runs:
        for run, of_run, values in zip(runs, found, files, strict=True):
            for version, scored in of_run.items():
                _enter(run, version, scored, values[version])
    return [replace(one, run=run) for run, of_run in zip(runs, found, strict=True) for one in of_run.values()]


def _stored_values(run: Run, version: Version, scored: Scored) -> StoredFile:
    """Write the values of single queries."""
    arrays = {
        f"{direction.value} {metric}": values
        for direction, metrics in scored.values.items()
        for metric, values in metrics.items()
    }
    return write_arrays(f"runs/values/{run.sha256[:12]}-{version}", **arrays) if arrays else StoredFile("", "")


def _enter(run: Run, version: Version, scored: Scored, values: StoredFile) -> None:
    Score.objects.filter(run=run, version=version).delete()
    Score.objects.bulk_create(
        Score(
            run=run,
            version=version,
            metric=metric,
            direction=direction,
            values_file=values.path,
            values_sha256=values.sha256,
            original=on.value if (on := scored.original.get(direction, {}).get(metric)) and on.queries else None,
            **vars(figure),
        )
        for direction, metrics in scored.figures.items()
        for metric, figure in metrics.items()
        if figure.queries
    )
    record("evaluated", run, actor="command", version=version.name)
    notify("run.scored", f"/runs/{run.pk}", id=run.pk, model=run.model, version=version.name)
