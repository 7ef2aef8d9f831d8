"""Train a machine on a collection's training split, from the pairs that one source knows."""

import hashlib
import json
from dataclasses import asdict
from time import perf_counter
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from core.errors import CounterpartError, some_of
from core.events import record
from core.files import write_arrays
from core.jobs import open_job
from core.models import Job
from core.progress import Progress, silent
from corpus.models import Collection, Match
from mitl.annotators import module_of
from mitl.annotators.base import Arrays
from mitl.checkpoints import Checkpoints, remove_stale
from mitl.models import Annotator, Pool
from mitl.naming import find_annotators
from mitl.registration import architecture
from mitl.search.quick import check_device
from mitl.training.examples import Validation, read_examples
from mitl.training.learners import Epoch, Plan, TrainingSet

TASK = "mitl.tasks.train"


def train_annotator(
    name: str,
    *,
    collection: Collection,
    matches: str = Match.ORIGINAL,
    loss: str | None = None,
    seed: int = 0,
    validation: str = Validation.SPLIT,
    device: str = "cpu",
    progress: Progress = silent,
) -> Annotator:
    """Train an annotator and keep its weights. Trained already on the same data in the same way, it stays as it is.

    Every finished epoch is written into ``Annotator.curve``. A training that was interrupted goes on after its last
    finished epoch when it is begun again with the same arguments.

    Args:
        collection: its training splits, or all of it where it has none.
        matches: the source of the positive pairs; of one that has levels, 1 and 2, of which 2 counts half.
        loss: one of those that the machine learns with; its usual one where None.
        seed: of first weights and of the order of examples; the same seed gives the same weights.
        validation: one of ``Validation``; by it the best epoch is chosen, and when to stop.
        device: ``cpu`` or ``cuda``.

    Raises:
        CounterpartError: for an unknown annotator, one that learns nothing, whose weights were brought along or
            whose proposals stand in a pool, an unknown source or loss, no pairs, images without files, and when
            somebody else trains it at the same time.
    """
    annotator = _trainable(name, seed, device)
    loss = _known_loss(annotator, loss)
    examples = read_examples(collection, matches, validation=Validation(validation), seed=seed)
    wanted = {
        "collection": collection.name,
        "matches": matches,
        "loss": loss,
        "seed": seed,
        "validation": str(validation),
        "data": examples.digest,
    }
    if wanted.items() <= annotator.trained_on.items():
        return annotator
    _refuse_weights(annotator)
    return _trained(annotator, examples, wanted, device, progress)


def open_training(
    name: str,
    *,
    collection: Collection,
    matches: str = Match.ORIGINAL,
    loss: str | None = None,
    seed: int = 0,
    validation: str = Validation.SPLIT,
    device: str = "cpu",
    by: User | None = None,
) -> Job:
    """Open a job that trains an annotator (``train_annotator``), for a worker to take.

    Raises CounterpartError for what can be seen to be wrong without reading the examples.
    """
    annotator = _trainable(name, seed, device)
    _refuse_weights(annotator)
    params = {
        "name": name,
        "collection": collection.name,
        "matches": matches,
        "loss": _known_loss(annotator, loss),
        "seed": seed,
        "validation": str(Validation(validation)),
        "device": device,
    }
    return open_job(f"Train {name} on {collection}", TASK, params, by=by)


def train_for(job: Job, progress: Progress) -> Annotator:
    """Train the annotator that a job of ``open_training`` names."""
    return train_annotator(
        **job.params | {"collection": Collection.objects.named(job.params["collection"])}, progress=progress
    )


def _trained(
    annotator: Annotator, examples: TrainingSet, wanted: dict[str, Any], device: str, progress: Progress
) -> Annotator:
    started = perf_counter()
    kept = _kept(annotator, wanted, device)
    plan = Plan(annotator.options, wanted["loss"], wanted["seed"], device, kept, _Curve(annotator).add)
    trained = module_of(annotator.kind).train(examples, plan, progress)
    sizes = {"images": len(examples.images), "pairs": len(examples.pairs)}
    spent = {"device": device, "seconds": round(perf_counter() - started, 1)}
    _keep(annotator, trained.arrays, wanted | sizes | trained.figures | spent)
    kept.clear()
    return annotator


def _trainable(name: str, seed: int, device: str) -> Annotator:
    if seed < 0:
        raise CounterpartError(f"A seed is 0 or more, not {seed}.")
    check_device(device)
    annotator = find_annotators([name])[0]
    if not hasattr(module_of(annotator.kind), "train"):
        raise CounterpartError(f"{name} is of kind {annotator.kind}, which learns nothing; use it as it is.")
    return annotator


def _known_loss(annotator: Annotator, loss: str | None) -> str:
    """Return the loss to learn with, the machine's usual one where none is named; empty where it has no choice."""
    losses: tuple[str, ...] = getattr(module_of(annotator.kind), "LOSSES", ())
    if not loss:
        return losses[0] if losses else ""
    if loss not in losses:
        choice = f"choose one of {', '.join(losses)}" if losses else "it has no choice of losses, leave it out"
        raise CounterpartError(f"A machine of kind {annotator.kind} has no loss {loss!r}; {choice}.")
    return loss


def _refuse_weights(annotator: Annotator) -> None:
    """Refuse to train what others rely on."""
    if annotator.checkpoint and not annotator.trained_on:
        raise CounterpartError(
            f"The weights of {annotator} were brought along and training would replace them; add another annotator"
            " without a checkpoint and train that."
        )
    pools = list(Pool.objects.filter(retrievals__annotator=annotator).distinct().values_list("name", flat=True))
    if pools:
        raise CounterpartError(
            f"Proposals of {annotator} stand in {len(pools)} pools: {some_of(pools)}. Other weights would belie them;"
            " add another annotator and train that."
        )


def _kept(annotator: Annotator, wanted: dict[str, Any], device: str) -> Checkpoints:
    """Return the place for a training's unfinished work; what others left there long ago is removed on the way."""
    root = settings.VAR_DIR / "training"
    remove_stale(root)
    training = json.dumps([annotator.kind, annotator.options, wanted, device], sort_keys=True)
    return Checkpoints(root / hashlib.sha256(training.encode()).hexdigest())


class _Curve:
    """The epochs of one training, written into the annotator's row as they come.

    Each writing begins from what stood there when this training began or wrote last: where another training has begun
    meanwhile, one of the two finds other epochs and stops. Until the first epoch, the row stays as it is.
    """

    def __init__(self, annotator: Annotator) -> None:
        self._annotator = annotator
        self._there = annotator.curve
        self._epochs: list[dict[str, Any]] = []

    def add(self, epoch: Epoch) -> None:
        """Write one more epoch. Raises CounterpartError if somebody else trains the annotator."""
        self._epochs = [*self._epochs, asdict(epoch)]
        unmoved = Annotator.objects.filter(pk=self._annotator.pk, curve=self._there)
        if not unmoved.update(curve=self._epochs):
            raise _lost(self._annotator)
        self._there = self._epochs


def _keep(annotator: Annotator, arrays: Arrays, trained_on: dict[str, Any]) -> None:
    weights = write_arrays(f"annotators/{annotator.name}", **arrays)
    told = architecture(annotator.kind, annotator.options, arrays)
    unmoved = Annotator.objects.filter(pk=annotator.pk, checksum=annotator.checksum)
    with transaction.atomic():
        if not unmoved.update(
            checkpoint=weights.path, checksum=weights.sha256, trained_on=trained_on, architecture=told
        ):
            raise _lost(annotator)
        record("trained", annotator, actor="train_annotator", sha256=weights.sha256, **trained_on)
    annotator.refresh_from_db()


def _lost(annotator: Annotator) -> CounterpartError:
    return CounterpartError(f"{annotator} is trained by somebody else meanwhile; wait for that, then run this again.")
