"""The loop of active learning: train from scratch on the paired images, measure, choose the images to pair next.

Jo et al. (``counterpart_annotators.selection``), algorithm 1. A finished step is kept in a file, so that an
interrupted run resumes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress
from core.seeds import derived_seed
from core.text import counted
from corpus.matches import known_pairs
from corpus.models import Collection, Image, Match
from counterpart_annotators.base import Arrays, EmbeddingAnnotator, StoredAnnotator
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.selection import core_set, hard_negative_scores
from counterpart_annotators.training.learners import TrainingPlan, TrainingSet
from counterpart_annotators.training.recall import Recalls, measure
from mitl.active_learning.active_parameters import CORE_SET, RANDOM, ActiveParameters
from mitl.annotators import module_of, open_stored, weights_of
from mitl.hosting.plain_rows import plain_captions, plain_images
from mitl.models import Annotator
from mitl.search.tuning import SPLIT, places_of_pairs
from mitl.training.examples import WORST_POSITIVE_GRADE, Validation, read_examples

TEST = "test"


def read_lessons(collection: Collection, measured: str) -> TrainingSet:
    """Return the training images, each with the first of its captions: row i of the pairs is (i, i).

    One caption an image, as in the paper. The images of the split ``val``, with all captions, choose the best epoch
    unless that is the split on which retrieval is ``measured``. Raises CounterpartError where no image has a caption.
    """
    found = read_examples(collection, Match.ORIGINAL, validation=Validation.SPLIT, seed=0)
    by_image = found.pairs[np.lexsort((found.pairs[:, 1], found.pairs[:, 0]))]
    _, first = np.unique(by_image[:, 0], return_index=True)
    captions = [found.captions[place] for place in by_image[first, 1]]
    validation = None if measured == SPLIT else found.validation
    return one_caption_each(replace(found, captions=captions, validation=validation), np.arange(len(found.images)))


def one_caption_each(lessons: TrainingSet, paired: NDArray[np.int64]) -> TrainingSet:
    """Return the images at these places, and the captions at the same places."""
    places = np.arange(len(paired))
    return TrainingSet(
        images=[lessons.images[place] for place in paired],
        captions=[lessons.captions[place] for place in paired],
        pairs=np.stack([places, places], axis=1),
        weights=np.ones(len(paired), dtype=np.float32),
        validation=lessons.validation,
    )


def split_to_measure(collection: Collection, split: str) -> str:
    """Return the split, or the one of test and val that there is.

    Raises CounterpartError where it has no image, and for a split that is learned from.
    """
    if split != SPLIT and split in Image.TRAINING_SPLITS:
        raise CounterpartError(f"The images of the split {split} are learned from; pass --split with another split.")
    for name in [split] if split else [TEST, SPLIT]:
        if collection.images.filter(split=name).exists():
            return name
    raise CounterpartError(
        f"{collection} has no images in the split {split or 'test or val'}, on which retrieval is measured. Import it"
        " with its splits, or pass --split with one that it has."
    )


def read_measured(collection: Collection, split: str, positives: str) -> TrainingSet:
    """Return all images and captions of a split with the matches of a source; of a source with levels, 1 and 2.

    Raises CounterpartError for an unknown source, and for one without matches among them.
    """
    images = list(collection.images.filter(split=split).order_by("pk"))
    captions = list(collection.captions.filter(image__split=split).order_by("pk"))
    known = known_pairs(collection, positives, max_grade=WORST_POSITIVE_GRADE)
    pairs = places_of_pairs(known, [row.pk for row in images], [row.pk for row in captions])
    if not len(pairs):
        raise CounterpartError(
            f"The source {positives!r} has no matches among the {counted(len(images), 'image')} of the split {split};"
            " pass --positives with another source, or --split with another split."
        )
    return TrainingSet(
        plain_images(images),
        plain_captions(captions, {image.pk: image.key for image in images}),
        pairs,
        np.ones(len(pairs), dtype=np.float32),
    )


Places = NDArray[np.int64]
LATE = 10  # epochs of which the best is kept, the last ones (Jo et al.)


@dataclass(frozen=True)
class ActiveStep:
    """Recalls after a training, and the places of the images that each score chooses next."""

    recalls: Recalls
    chosen: dict[str, Places]


@dataclass
class Scenario:
    """What all steps share.

    Attributes:
        annotator: kind and settings of what is trained; no row of the database.
        lessons: the images to learn from, one caption each (``read_lessons``).
        measured: the images and captions on which retrieval is measured.
        start, step: numbers of images that are paired at the start and in a step.
        folder: where finished steps are kept.
    """

    parameters: ActiveParameters
    annotator: Annotator
    loss: str
    lessons: TrainingSet
    measured: TrainingSet
    start: int
    step: int
    folder: Path
    progress: Progress
    _trainings: int = field(default=0, init=False)

    def run(self, seed: int) -> dict[str, list[Recalls]]:
        """Return the recalls of each score at the start and after each step; all scores share the start."""
        scores = self.parameters.score
        n = len(self.lessons.images)
        start = np.sort(np.random.default_rng([seed, 0]).choice(n, self.start, replace=False))
        first = self._step(f"{seed}-start", start, scores, seed, 0)
        return {score: [first.recalls, *self._further(score, start, first, seed)] for score in scores}

    def _further(self, score: str, paired: Places, last: ActiveStep, seed: int) -> Iterator[Recalls]:
        for number in range(1, self.parameters.steps + 1):
            paired = np.sort(np.concatenate([paired, last.chosen[score]]))
            choosing = (score,) if number < self.parameters.steps else ()
            last = self._step(f"{seed}-{score}-{number}", paired, choosing, seed, number)
            yield last.recalls

    def _step(self, name: str, paired: Places, scores: Sequence[str], seed: int, number: int) -> ActiveStep:
        """Train, measure and choose, or load what was kept of it."""
        kept = Checkpoints(self.folder)
        self._trainings += 1
        found = kept.load(name)
        if found is None:
            found = self._computed(name, paired, scores, seed, number)
            kept.save(name, **found)
        recalls = dict(zip(found["names"].tolist(), found["recalls"].tolist(), strict=True))
        return ActiveStep(recalls, {score: found[f"chosen {score}"] for score in scores})

    def _computed(self, name: str, paired: Places, scores: Sequence[str], seed: int, number: int) -> Arrays:
        from counterpart_annotators.training.loop import repeatable  # imports torch, which --help should not

        planned = self.parameters.seeds * (1 + self.parameters.steps * len(self.parameters.score))
        label = f"training {self._trainings} of {planned}"

        def progress(step: str, done: int, total: int | None) -> None:
            self.progress(f"{label}: {step}", done, total)

        kept = Checkpoints(self.folder / name)
        settings = self.annotator.options
        device = self.parameters.device
        plan = TrainingPlan(settings, self.loss, seed, device, kept, weights_of=weights_of, late=LATE)
        trained = module_of(self.annotator.kind).train(one_caption_each(self.lessons, paired), plan, progress)
        opened = self._opened(trained.arrays)
        with repeatable(seed):
            # Before the measurement, whose compiled code may change the number of threads, on which sums depend.
            embeddings = self._embeddings(opened, paired, scores, progress)
            recalls = self._measured(opened, len(paired), progress)
        chosen = {
            f"chosen {score}": self._choose(score, paired, embeddings, derived_seed(seed, number)) for score in scores
        }
        kept.clear()
        return {"names": np.array(list(recalls)), "recalls": np.array(list(recalls.values())), **chosen}

    def _measured(self, opened: EmbeddingAnnotator, paired: int, progress: Progress) -> Recalls:
        try:
            return measure(opened, self.measured, progress)
        except ValueError as error:  # such as captions of which no word was learned
            raise CounterpartError(
                f"After {paired} images, the embeddings of the annotator cannot be searched: {error} Raise --start, or"
                " use another --kind."
            ) from error

    def _opened(self, arrays: Arrays) -> EmbeddingAnnotator:
        """Open weights. Raises CounterpartError where they have no embeddings."""
        kind = self.annotator.kind
        stored = StoredAnnotator(self.annotator.name, self.annotator.options, arrays)
        opened = open_stored(kind, stored, self.parameters.device)
        if not isinstance(opened, EmbeddingAnnotator):
            raise CounterpartError(
                f"Annotators of kind {kind} with these options have ranked lists and no embeddings to choose by; use"
                " another --kind, such as vse."
            )
        return opened

    def _embeddings(
        self, opened: EmbeddingAnnotator, paired: Places, scores: Sequence[str], progress: Progress
    ) -> tuple[Embeddings, Embeddings] | None:
        """Return the embeddings of all images and of the paired ones' captions; None where no score asks for them."""
        if set(scores) <= {RANDOM}:
            return None
        captions = [self.lessons.captions[place] for place in paired]
        images, texts = opened.encode(self.lessons.images, captions, progress=progress)
        if opened.comparison(images, texts) is not None:
            raise CounterpartError(
                f"Annotators of kind {self.annotator.kind} with these options do not compare one embedding an image"
                " with one a caption by an inner product, which scores need. Use another --kind, such as vse, or"
                " --score random."
            )
        return images, texts

    def _choose(
        self, score: str, paired: Places, embeddings: tuple[Embeddings, Embeddings] | None, seed: int
    ) -> Places:
        """Return the places of the images to pair next. Equal hard-negative scores are ordered at random."""
        # In random order, so that a stable order by score leaves equal ones in it.
        unpaired = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(len(self.lessons.images)), paired))
        if embeddings is None or score == RANDOM:
            return unpaired[: self.step]
        images, texts = embeddings
        if score == CORE_SET:
            return unpaired[core_set(images[paired], images[unpaired], self.step)]
        scores = hard_negative_scores(
            images[unpaired],
            images[paired],
            texts,
            top_k=self.parameters.top_k,
            mini_batch=self.parameters.mini_batch,
            weight=score,
            seed=seed,
        )
        return unpaired[np.argsort(-scores, kind="stable")[: self.step]]
