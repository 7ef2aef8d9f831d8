"""Train a machine on a collection's training split, from the pairs that one source knows."""

import hashlib
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from django.db import transaction
from django.db.models import QuerySet
from numpy.typing import NDArray

from corpus.artefacts import write_arrays
from corpus.matches import known_pairs
from corpus.models import Caption, Collection, Image, Match
from journal.errors import CounterpartError, some_of
from journal.events import record
from journal.progress import Progress, silent
from mitl.annotators import module_of
from mitl.annotators.base import Arrays
from mitl.models import Annotator, Pool
from mitl.naming import find_annotators

WORST_POSITIVE_GRADE = 2

Row = TypeVar("Row", Image, Caption)


@dataclass(frozen=True)
class TrainingSet:
    """What a machine learns from: images, captions and the pairs known between them, as places (P, 2) in both."""

    images: list[Image]
    captions: list[Caption]
    pairs: NDArray[np.int64]

    @property
    def digest(self) -> str:
        """SHA-256 over pictures, texts and pairs: equal sets train equal weights."""
        texts = "\n".join([*(image.sha256 for image in self.images), *(caption.text for caption in self.captions)])
        return hashlib.sha256(texts.encode() + self.pairs.tobytes()).hexdigest()


def train_annotator(
    name: str,
    *,
    collection: Collection,
    matches: str = Match.ORIGINAL,
    loss: str = "sum",
    seed: int = 0,
    progress: Progress = silent,
) -> Annotator:
    """Train an annotator and keep its weights. Trained already on the same data in the same way, it stays as it is.

    Args:
        collection: its training split, or all of it where it has none.
        matches: the source of the positive pairs; of one that has grades, levels 1 and 2.
        loss: a name in ``mitl.losses.LOSSES``.
        seed: of first weights and of the order of examples; the same seed gives the same weights.

    Raises:
        CounterpartError: for an unknown annotator, one that learns nothing or whose proposals stand in a pool,
            an unknown source or loss, no pairs, or images without files.
    """
    if seed < 0:
        raise CounterpartError(f"A seed is 0 or more, not {seed}.")
    annotator = _trainable(name)
    examples = _training_set(collection, matches)
    wanted = {"collection": collection.name, "matches": matches, "loss": loss, "seed": seed, "data": examples.digest}
    if wanted.items() <= annotator.trained_on.items():
        return annotator
    _refuse_pooled(annotator)
    started = perf_counter()
    arrays, figures = module_of(annotator.kind).train(
        examples, options=annotator.options, loss=loss, seed=seed, progress=progress
    )
    figures = {"images": len(examples.images), "pairs": len(examples.pairs), **figures}
    return _keep(annotator, arrays, wanted | figures | {"seconds": round(perf_counter() - started, 1)})


def _trainable(name: str) -> Annotator:
    annotator = find_annotators([name])[0]
    if not hasattr(module_of(annotator.kind), "train"):
        raise CounterpartError(f"{name} is of kind {annotator.kind}, which learns nothing; use it as it is.")
    return annotator


def _training_set(collection: Collection, source: str) -> TrainingSet:
    """Read the images and captions that have a pair; the others teach nothing."""
    images = collection.images.training() if collection.images.training().exists() else collection.images.all()
    pairs = known_pairs(collection, source, max_grade=WORST_POSITIVE_GRADE)
    pairs = pairs[np.isin(pairs[:, 0], list(images.values_list("pk", flat=True)))]
    captions = collection.captions.filter(image__in=images)
    pairs = pairs[np.isin(pairs[:, 1], list(captions.values_list("pk", flat=True)))]
    if not len(pairs):
        raise CounterpartError(
            f"The source {source!r} has no pairs among the {images.count()} images that training may see;"
            " pass --matches with another source."
        )
    image_ids, image_places = np.unique(pairs[:, 0], return_inverse=True)
    caption_ids, caption_places = np.unique(pairs[:, 1], return_inverse=True)
    return TrainingSet(
        _chosen(images, image_ids), _chosen(captions, caption_ids), np.stack([image_places, caption_places], axis=1)
    )


def _chosen(rows: QuerySet[Row], ids: NDArray[np.int64]) -> list[Row]:
    wanted = set(ids.tolist())
    return [row for row in rows.order_by("pk") if row.pk in wanted]


def _refuse_pooled(annotator: Annotator) -> None:
    pools = list(Pool.objects.filter(retrievals__annotator=annotator).distinct().values_list("name", flat=True))
    if pools:
        raise CounterpartError(
            f"Proposals of {annotator} stand in {len(pools)} pools: {some_of(pools)}. Other weights would belie them;"
            " add another annotator and train that."
        )


def _keep(annotator: Annotator, arrays: Arrays, trained_on: dict[str, Any]) -> Annotator:
    weights = write_arrays(f"annotators/{annotator.name}", **arrays)
    unmoved = Annotator.objects.filter(pk=annotator.pk, checksum=annotator.checksum)
    with transaction.atomic():
        if not unmoved.update(checkpoint=weights.path, checksum=weights.sha256, trained_on=trained_on):
            raise CounterpartError(f"{annotator} was trained by somebody else meanwhile; run the same again.")
        record("trained", annotator, actor="train_annotator", sha256=weights.sha256, **trained_on)
    annotator.refresh_from_db()
    return annotator
