"""Train an annotator on the known pairs of a collection's training split."""

import hashlib
import json
from dataclasses import asdict, replace
from time import perf_counter
from typing import Annotated, Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from core.errors import CounterpartError, some_of
from core.events import record
from core.files.stored_files import remove_stale, write_arrays
from core.models import Job
from core.parameters import OFF_PAGE, POSITIONAL, Option, Parameters
from core.progress import Progress, silent
from core.seeds import SeedField, check_seed
from core.text import counted
from core.work.jobs import open_job
from corpus.models import Collection, Match
from counterpart_annotators.base import Arrays
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.training.learners import Epoch, TrainingPlan, TrainingSet
from mitl.annotators import kind_of, module_of, weights_of
from mitl.models import Annotator, Pool
from mitl.registration import architecture
from mitl.search.top_lists import Device, check_device
from mitl.training.examples import Validation, read_examples

TASK = "mitl.tasks.train"


class TrainParameters(Parameters):
    """Which annotator is trained, on what, and how."""

    name: Annotated[str, "name of the annotator", POSITIONAL, OFF_PAGE]
    collection: Annotated[str, "collection to train on"]
    matches: Annotated[
        str,
        forms.CharField(
            max_length=80,
            label="Matches from source",
            help_text="source of the positive pairs; of a source with levels, 1 and 2, and 2 counts half",
        ),
        Option(metavar="SOURCE"),
    ] = Match.ORIGINAL
    loss: Annotated[str, "loss, such as sum, max, semi-hard or hal (default: that of the kind)"] = ""
    gallery: Annotated[
        bool,
        "learn from the source's pairs wherever they are, the gallery included, and from those that people rejected; "
        "such an annotator only proposes: do not score it as a model on the same matches",
    ] = False
    validation: Annotated[
        str,
        forms.ChoiceField(
            choices=[
                (Validation.SPLIT.value, "the val split, if there is one"),
                (Validation.HELD_OUT.value, "a random tenth of the training images"),
                (Validation.NONE.value, "nothing: keep the last epoch"),
            ],
            label="Choose the best epoch on",
            help_text="images that decide the best epoch: those of the split val, if there is one; a random tenth of "
            "the training images; none, which keeps the last epoch",
        ),
    ] = Validation.SPLIT.value
    seed: Annotated[int, SeedField(help_text="random seed")] = 0
    device: Annotated[Device, "device to train on", OFF_PAGE] = "cpu"


def train_annotator(
    name: str,
    *,
    collection: Collection,
    matches: str = Match.ORIGINAL,
    loss: str | None = None,
    seed: int = 0,
    validation: str = Validation.SPLIT,
    gallery: bool = False,
    device: str = "cpu",
    actor: str = "train_annotator",
    progress: Progress = silent,
) -> Annotator:
    """Train an annotator and store its weights. If it was trained on the same data in the same way, nothing changes.

    Every finished epoch is added to ``Annotator.curve``. An interrupted training resumes after its last finished epoch
    when it is started again with the same arguments.

    Args:
        collection: its training splits, or all of it if it has none.
        matches: the source of the positive pairs; of a source with levels, 1 and 2, and 2 counts half.
        loss: one of the kind's losses; None for its default.
        seed: for initial weights and the order of examples; the same seed gives the same weights.
        validation: one of ``Validation``; decides the best epoch and early stopping.
        gallery: learn from the source's pairs outside the training splits too, as a turn does.
        device: ``cpu`` or ``cuda``.

    Raises:
        CounterpartError: for an unknown annotator, one that cannot be trained, has imported weights or is used in a
            pool; for an unknown source or loss, no pairs, images without files, and a simultaneous training.
    """
    annotator = _trainable(name, seed, device)
    loss = known_loss(annotator, loss)
    examples = read_examples(collection, matches, validation=Validation(validation), seed=seed, gallery=gallery)
    wanted = {
        "collection": collection.name,
        "matches": matches,
        "loss": loss,
        "seed": seed,
        "validation": str(validation),
        "data": examples.digest,
        **({"gallery": True} if gallery else {}),
    }
    if wanted.items() <= annotator.trained_on.items():
        return annotator
    _refuse_weights(annotator)
    return _trained(annotator, examples, wanted, device, actor, progress)


def open_training(parameters: TrainParameters, *, by: User | None = None) -> Job:
    """Create a job that trains an annotator (``train_annotator``) on a worker.

    Raises CounterpartError for invalid arguments, as far as they show without reading the examples.
    """
    annotator = _trainable(parameters.name, parameters.seed, "cpu")  # The worker has the device.
    _refuse_weights(annotator)
    params = replace(parameters, loss=known_loss(annotator, parameters.loss)).as_json()
    return open_job(f"Train {annotator} on {parameters.collection}", TASK, params, by=by)


def train_for(job: Job, progress: Progress) -> Annotator:
    """Run a job of ``open_training``."""
    return train_annotator(
        **job.params | {"collection": Collection.objects.named(job.params["collection"])},
        actor=job.actor,
        progress=progress,
    )


def _trained(
    annotator: Annotator, examples: TrainingSet, wanted: dict[str, Any], device: str, actor: str, progress: Progress
) -> Annotator:
    started = perf_counter()
    kept = _kept(annotator, wanted, device)
    plan = TrainingPlan(
        annotator.options, wanted["loss"], wanted["seed"], device, kept, _Curve(annotator).add, weights_of
    )
    trained = module_of(annotator.kind).train(examples, plan, progress)
    sizes = {"images": len(examples.images), "pairs": len(examples.pairs)}
    spent = {"device": device, "seconds": round(perf_counter() - started, 1)}
    _keep(annotator, trained.arrays, wanted | sizes | trained.figures | spent, actor)
    kept.clear()
    return annotator


def _trainable(name: str, seed: int, device: str) -> Annotator:
    check_seed(seed)
    check_device(device)
    annotator = Annotator.objects.named(name)
    if not kind_of(annotator.kind).learns:
        raise CounterpartError(f"{name} is of kind {annotator.kind}, which needs no training; use it as it is.")
    return annotator


def known_loss(annotator: Annotator, loss: str | None) -> str:
    """Return the name of the loss, the kind's default if none is given; empty if the kind has no choice.

    Raises CounterpartError for a loss that the kind does not have.
    """
    losses = kind_of(annotator.kind).losses
    if not loss:
        return losses[0] if losses else ""
    if loss not in losses:
        choice = f"choose one of {', '.join(losses)}" if losses else "it has no choice of losses, leave it out"
        raise CounterpartError(f"Annotators of kind {annotator.kind} have no loss {loss!r}; {choice}.")
    return loss


def _refuse_weights(annotator: Annotator) -> None:
    """Refuse to replace imported weights, or weights that a pool was made with."""
    if annotator.checkpoint and not annotator.trained_on:
        raise CounterpartError(
            f"The weights of {annotator} were imported, and training would replace them. Add another annotator without"
            " a checkpoint and train that."
        )
    pools = list(Pool.objects.filter(retrievals__annotator=annotator).distinct().values_list("name", flat=True))
    if pools:
        raise CounterpartError(
            f"{annotator} is used in {counted(len(pools), 'pool')} ({some_of(pools)}), so it cannot be retrained. Add"
            " another annotator and train that."
        )


def _kept(annotator: Annotator, wanted: dict[str, Any], device: str) -> Checkpoints:
    """Return the place for a training's unfinished work; old work of others is removed."""
    root = settings.VAR_DIR / "training"
    remove_stale(root)
    training = json.dumps([annotator.kind, annotator.options, wanted, device], sort_keys=True)
    return Checkpoints(root / hashlib.sha256(training.encode()).hexdigest())


class _Curve:
    """The epochs of one training, written into the annotator's row as they finish.

    An update succeeds only if the row still holds what this training found or wrote last: of two simultaneous trainings
    one stops. Until the first epoch is finished, the row does not change.
    """

    def __init__(self, annotator: Annotator) -> None:
        self._annotator = annotator
        self._stored = annotator.curve
        self._epochs: list[dict[str, Any]] = []

    def add(self, epoch: Epoch) -> None:
        """Write one more epoch. Raises CounterpartError if another training of the annotator is running."""
        self._epochs = [*self._epochs, asdict(epoch)]
        unchanged = Annotator.objects.filter(pk=self._annotator.pk, curve=self._stored)
        if not unchanged.update(curve=self._epochs):
            raise _lost(self._annotator)
        self._stored = self._epochs


def _keep(annotator: Annotator, arrays: Arrays, trained_on: dict[str, Any], actor: str) -> None:
    weights = write_arrays(f"annotators/{annotator.name}", **arrays)
    described = architecture(annotator.kind, annotator.options, arrays)
    unchanged = Annotator.objects.filter(pk=annotator.pk, checksum=annotator.checksum)
    with transaction.atomic():
        if not unchanged.update(
            checkpoint=weights.path, checksum=weights.sha256, trained_on=trained_on, architecture=described
        ):
            raise _lost(annotator)
        record("trained", annotator, actor=actor, sha256=weights.sha256, **trained_on)
    annotator.refresh_from_db()


def _lost(annotator: Annotator) -> CounterpartError:
    return CounterpartError(
        f"Another training of {annotator} is running; wait until it is finished, then run this again."
    )
