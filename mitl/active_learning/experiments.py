"""Active learning on a collection: the steps of several seeds, and their figures as means, a table and a chart."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats
from django.conf import settings

from core.errors import CounterpartError
from core.files.stored_files import remove_stale
from core.progress import Progress, silent
from core.text import counted
from corpus.models import Collection
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.training.recall import DEPTHS, Recalls
from mitl.active_learning.active_parameters import PRESETS, ActiveParameters
from mitl.active_learning.active_steps import HARD, Scenario, read_lessons, read_measured, split_to_measure
from mitl.annotators import kind_of, kinds
from mitl.charts.drawing import Chart
from mitl.charts.lines import line_chart
from mitl.models import Annotator, Direction
from mitl.registration import settings_from
from mitl.search.top_lists import check_device
from mitl.training.trainer import known_loss


def active_learning(
    parameters: ActiveParameters, *, options: Mapping[str, object] | None = None, progress: Progress = silent
) -> dict[str, Any]:
    """Run the loop for every seed and way to choose; return the figures (``figures_of``).

    Nothing is written into the database. An interrupted run that is started again with the same arguments resumes
    after its last finished step, or epoch, and returns the same figures.

    Args:
        options: settings of the annotator by name, which win over those of the preset.

    Raises:
        CounterpartError: for an unknown collection, kind, option or loss; a kind that does not learn, is a
            cross-encoder or has no scores to choose by; too few images, images without files, and no split to measure.
    """
    collection = Collection.objects.named(parameters.collection)
    check_device(parameters.device)
    annotator = _annotator(parameters, options or {})
    loss = known_loss(annotator, parameters.loss)
    split = split_to_measure(collection, parameters.split)
    lessons = read_lessons(collection, split)
    start, step = _numbers(parameters, len(lessons.images))
    measured = read_measured(collection, split, parameters.positives)
    folder = _folder([parameters.as_json(), annotator.options, lessons.digest, measured.digest])
    scenario = Scenario(parameters, annotator, loss, lessons, measured, start, step, folder, progress)
    runs: Runs = {seed: scenario.run(seed) for seed in range(parameters.seed, parameters.seed + parameters.seeds)}
    figures = {
        "collection": parameters.collection,
        "kind": parameters.kind,
        "options": annotator.options,
        "loss": loss,
        "images": len(lessons.images),
        "split": split,
        "positives": parameters.positives,
        "unpaired": parameters.unpaired,
        "queries": {"i2t": len(set(measured.pairs[:, 0])), "t2i": len(set(measured.pairs[:, 1]))},
        **figures_of(runs, [start + number * step for number in range(parameters.steps + 1)], len(lessons.images)),
    }
    Checkpoints(folder).clear()
    return figures


def _annotator(parameters: ActiveParameters, options: Mapping[str, object]) -> Annotator:
    """Return an annotator without a row. Raises CounterpartError for a kind that cannot learn here."""
    kind = kind_of(parameters.kind)
    if not kind.learns or kind.cross_encoder:
        fit = [name for name in kinds() if kind_of(name).learns and not kind_of(name).cross_encoder]
        why = "score pair by pair, too slowly to choose by" if kind.learns else "do not learn"
        raise CounterpartError(f"Annotators of kind {parameters.kind} {why}; use one of {', '.join(fit)}.")
    preset = {name: value for name, value in PRESETS[parameters.preset].items() if name in kind.options}
    chosen = settings_from(parameters.kind, kind, {**preset, **options})
    return Annotator(name=parameters.kind, kind=parameters.kind, options=chosen)


def _numbers(parameters: ActiveParameters, images: int) -> tuple[int, int]:
    """Return the numbers of images that are paired at the start and in a step. Raises CounterpartError for too few."""
    start = round(images * parameters.start / 100)
    step = round(images * parameters.step / 100)
    percent = parameters.start + parameters.steps * parameters.step
    if percent > 100 or start + parameters.steps * step > images:
        raise CounterpartError(
            f"{parameters.start}% at the start and {parameters.steps} steps of {parameters.step}% are more than all"
            f" {images} training images; pass fewer --steps."
        )
    places, sizes = parameters.conditions
    fewest = min([start, *(size for size in sizes if size)])
    if step < 1 or fewest <= max(places):
        raise CounterpartError(
            f"{parameters.collection} has {images} training images with captions, too few: {start} at the start, {step}"
            f" in a step, and hard negatives of --top-k {max(places)} need {max(places) + 1} pairs (also in a"
            " mini-batch). Import more images, or raise --start and --step."
        )
    return start, step


def _folder(described: list[Any]) -> Path:
    """Return the folder of an experiment's finished steps; old ones of others are removed."""
    root = settings.VAR_DIR / "active_learning"
    remove_stale(root)
    return root / hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


LEVEL = 0.95
FIRST = tuple(f"{direction.value} R@1" for direction in Direction)
SUMS = tuple(f"R@{k}-sum" for k in DEPTHS)
FEW = 4  # number of ways up to which every difference is printed

Runs = Mapping[int, Mapping[str, Sequence[Recalls]]]
"""Seed → way to choose → recalls at the start and after each step."""
Mean = dict[str, float | None]


def figures_of(runs: Runs, paired: Sequence[int], images: int) -> dict[str, Any]:
    """Return means over the seeds and their 95% intervals (Student's t; None with one seed).

    ``scores``: by way to choose, the recalls of every step and the share of hard negatives that it chose from, and
    ``R@1-sum`` (5, 10) over steps and directions (Jo et al., tables 3, 4 and A2 to A4). ``differences``: of the first
    sum, by two ways, each seed's own: a seed's ways share their start. ``runs``: the recalls of every seed, way and
    step. ``paired`` are the numbers of pairs at the start and after each step.
    """
    ways = list(next(iter(runs.values())))
    sums = {way: {name: [_sum(run[way], name) for run in runs.values()] for name in SUMS} for way in ways}
    first = {way: np.array(found[SUMS[0]]) for way, found in sums.items()}
    return {
        "seeds": list(runs),
        "scores": {
            way: {
                "steps": [
                    {"paired": n, "share": round(n / images, 4), **_means([run[way][at] for run in runs.values()])}
                    for at, n in enumerate(paired)
                ],
                **{name: mean_of(values) for name, values in sums[way].items()},
            }
            for way in ways
        },
        "differences": {f"{one} - {other}": mean_of(first[one] - first[other]) for one, other in combinations(ways, 2)},
        "runs": [
            {"seed": seed, "score": way, "paired": n, **recalls}
            for seed, run in runs.items()
            for way, steps in run.items()
            for n, recalls in zip(paired, steps, strict=True)
        ],
    }


def mean_of(values: Sequence[float] | np.ndarray) -> Mean:
    """Return the mean of independent values and its 95% interval by Student's t; None for that of one value."""
    mean = float(np.mean(values))
    n = len(values)
    if n < 2:
        return {"mean": round(mean, 2), "low": None, "high": None}
    reach = float(scipy.stats.t.ppf((1 + LEVEL) / 2, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return {"mean": round(mean, 2), "low": round(mean - reach, 2), "high": round(mean + reach, 2)}


def table_of(figures: Mapping[str, Any]) -> str:
    """Return the figures as text: R@1 of both directions and hard negatives by way and share of pairs; sums."""
    ways = figures["scores"]
    steps = next(iter(ways.values()))["steps"]
    differences = figures["differences"] if len(ways) <= FEW else {}
    width = max(len("paired"), *map(len, ways), *map(len, differences))
    lines = [
        f"{figures['kind']} on {figures['collection']}: {counted(figures['images'], 'image')} to learn from, retrieval"
        f" on the split {figures['split']}, {counted(len(figures['seeds']), 'seed')}. R@1 in percent; hard:",
        f"percent of the unpaired {figures['unpaired']} that are a hard negative of a pair.",
        "",
        "  ".join(["paired".ljust(width), "    ", *(f"{100 * step['share']:6.1f}%" for step in steps)]),
    ]
    for way, found in ways.items():
        for name in (*FIRST, HARD):
            cells = [f"{step[name]['mean']:7.2f}" for step in found["steps"] if name in step]
            lines += ["  ".join([way.ljust(width), name.split()[0].ljust(4), *cells])] if cells else []
    lines += ["", f"{', '.join(SUMS)}, over steps and directions:"]
    lines += ["  ".join([way.ljust(width), *(_mean_text(found[name]) for name in SUMS)]) for way, found in ways.items()]
    lines += ["", *(f"{pair.ljust(width)}  {_mean_text(mean)}" for pair, mean in differences.items())]
    return "\n".join(lines).rstrip()


def chart_of(figures: Mapping[str, Any]) -> Chart:
    """Draw R@1 by the share of paired images, a line a score, with intervals."""
    return line_chart(
        f"Active learning: {figures['kind']} on {figures['collection']}",
        f"Mean R@1 of {counted(len(figures['seeds']), 'seed')} with 95% intervals, as chosen {figures['unpaired']} are"
        " paired.",
        {
            direction.label: [
                {
                    "line": score,
                    "x": f"{100 * step['share']:.0f}%",
                    "y": mean["mean"],
                    "low": mean["low"],
                    "high": mean["high"],
                }
                for score, found in figures["scores"].items()
                for step in found["steps"]
                for mean in [step[f"{direction.value} R@1"]]
            ]
            for direction in Direction
        },
        x="paired images",
        y="R@1 (%)",
        zero=False,
        per_line=2,
    )


def _sum(steps: Sequence[Recalls], name: str) -> float:
    return sum(
        recalls[f"{direction.value} {name.removesuffix('-sum')}"] for recalls in steps for direction in Direction
    )


def _means(recalls: Sequence[Recalls]) -> dict[str, Mean]:
    return {name: mean_of([recall[name] for recall in recalls]) for name in recalls[0]}


def _mean_text(mean: Mean) -> str:
    interval = "" if mean["low"] is None else f"  ({mean['low']:.2f} to {mean['high']:.2f})"
    return f"{mean['mean']:8.2f}{interval}"
