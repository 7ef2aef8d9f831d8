"""Active learning on a collection: the steps of several seeds, and their figures."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from core.errors import CounterpartError
from core.files.stored_files import remove_stale
from core.progress import Progress, silent
from corpus.models import Collection
from counterpart_annotators.checkpoints import Checkpoints
from mitl.active_learning.active_findings import Runs, figures_of
from mitl.active_learning.active_parameters import PRESETS, ActiveParameters
from mitl.active_learning.active_steps import Scenario
from mitl.active_learning.paired_images import read_lessons, read_measured, split_to_measure
from mitl.annotators import kind_of, kinds
from mitl.models import Annotator
from mitl.registration import settings_from
from mitl.search.embeddings import check_device
from mitl.training.trainer import known_loss


def active_learning(
    parameters: ActiveParameters, *, options: Mapping[str, object] | None = None, progress: Progress = silent
) -> dict[str, Any]:
    """Run the loop for every seed and score; return the figures (``figures_of``).

    Nothing is written into the database. An interrupted run that is started again with the same arguments resumes
    after its last finished step, or epoch, and returns the same figures.

    Args:
        options: settings of the annotator by name, which win over those of the preset.

    Raises:
        CounterpartError: for an unknown collection, kind, option or loss; a kind that does not learn, scores pair by
            pair or has no embeddings to choose by; too few images, images without files, and no split to measure on.
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
        why = "score pair by pair, which has no embeddings to choose by" if kind.learns else "do not learn"
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
    pairs = min(start, parameters.mini_batch or start)
    if step < 1 or pairs <= parameters.top_k:
        raise CounterpartError(
            f"{parameters.collection} has {images} training images with captions, too few: {start} at the start, {step}"
            f" in a step, and hard negatives of --top-k {parameters.top_k} need {parameters.top_k + 1} pairs (also in a"
            " mini-batch). Import more images, or raise --start and --step."
        )
    return start, step


def _folder(described: list[Any]) -> Path:
    """Return the folder of an experiment's finished steps; old ones of others are removed."""
    root = settings.VAR_DIR / "active_learning"
    remove_stale(root)
    return root / hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()
