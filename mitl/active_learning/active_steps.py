"""The loop of active learning: train from scratch on the pairs, measure, choose what is paired next.

Jo et al. (``counterpart_annotators.selection``), algorithm 1, and its reverse. A finished step is kept in a file, so
that an interrupted run resumes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from core.errors import CounterpartError
from core.progress import Progress
from core.seeds import derived_seed
from core.text import counted
from corpus.matches import known_pairs
from corpus.models import Collection, Image, Match
from counterpart_annotators.base import Arrays, ListAnnotator, OpenAnnotator, StoredAnnotator
from counterpart_annotators.checkpoints import Checkpoints
from counterpart_annotators.choosing import Places, Round, Way
from counterpart_annotators.training.learners import TrainingPlan, TrainingSet
from counterpart_annotators.training.recall import Recalls, measure
from mitl.active_learning.active_parameters import ActiveParameters
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


def one_caption_each(lessons: TrainingSet, paired: Places) -> TrainingSet:
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


LATE = 10  # epochs of which the best is kept, the last ones (Jo et al.)
HARD = "hard negatives"


@dataclass
class Scenario:
    """What all steps share.

    Attributes:
        annotator: kind and settings of what is trained; no row of the database.
        lessons: the images to learn from, one caption each (``read_lessons``).
        measured: the images and captions on which retrieval is measured.
        start, step: numbers of pairs at the start and in a step.
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
        """Return the recalls of each way at the start and after each step; all ways share the start.

        A step before a choice by hard negatives also has their share among what is unpaired, ``hard negatives``.
        """
        ways = self.parameters.ways
        n = len(self.lessons.images)
        start = np.sort(np.random.default_rng([seed, 0]).choice(n, self.start, replace=False))
        first = self._step(f"{seed}-start", start, ways, seed, 0)
        return {way.name: [_recalls(first, way), *self._further(way, start, first, seed)] for way in ways}

    def _further(self, way: Way, paired: Places, last: Arrays, seed: int) -> Iterator[Recalls]:
        for number in range(1, self.parameters.steps + 1):
            paired = np.sort(np.concatenate([paired, last[f"chosen {way.name}"]]))
            choosing = (way,) if number < self.parameters.steps else ()
            last = self._step(f"{seed}-{way.name}-{number}", paired, choosing, seed, number)
            yield _recalls(last, way)

    def _step(self, name: str, paired: Places, ways: Sequence[Way], seed: int, number: int) -> Arrays:
        """Train, measure and choose, or load what was kept of it."""
        kept = Checkpoints(self.folder)
        self._trainings += 1
        found = kept.load(name)
        if found is None:
            found = self._computed(name, paired, ways, seed, number)
            kept.save(name, **found)
        return found

    def _computed(self, name: str, paired: Places, ways: Sequence[Way], seed: int, number: int) -> Arrays:
        from counterpart_annotators.training.loop import repeatable  # imports torch, which --help should not

        planned = self.parameters.seeds * (1 + self.parameters.steps * len(self.parameters.ways))
        label = f"training {self._trainings} of {planned}"

        def progress(step: str, done: int, total: int | None) -> None:
            self.progress(f"{label}: {step}", done, total)

        kept = Checkpoints(self.folder / name)
        settings, device = self.annotator.options, self.parameters.device
        plan = TrainingPlan(settings, self.loss, seed, device, kept, weights_of=weights_of, late=LATE)
        trained = module_of(self.annotator.kind).train(one_caption_each(self.lessons, paired), plan, progress)
        opened = self._opened(trained.arrays)
        state = Round(opened, self.lessons, paired, self.parameters.unpaired == "captions", progress)
        try:
            with repeatable(seed):
                # Before the measurement, whose compiled code may change the number of threads, on which sums depend.
                chosen = state.chosen(ways, self.step, derived_seed(seed, number))
                recalls = measure(opened, self.measured, progress)
        except ValueError as error:  # such as captions of which no word was learned
            raise CounterpartError(
                f"After {counted(len(paired), 'pair')}, the annotator cannot be searched: {error} Raise --start, or use"
                " another --kind."
            ) from error
        kept.clear()
        return {"names": np.array(list(recalls)), "recalls": np.array(list(recalls.values())), **chosen}

    def _opened(self, arrays: Arrays) -> OpenAnnotator:
        """Open weights. Raises CounterpartError where they have no scores."""
        kind = self.annotator.kind
        stored = StoredAnnotator(self.annotator.name, self.annotator.options, arrays)
        opened = open_stored(kind, stored, self.parameters.device)
        if isinstance(opened, ListAnnotator):
            raise CounterpartError(
                f"Annotators of kind {kind} with these options have ranked lists and no scores to choose by; use"
                " another --kind, such as vse."
            )
        return opened


def _recalls(step: Arrays, way: Way) -> Recalls:
    """Return the recalls of a step, and the share of hard negatives that the way saw, if it did."""
    hard = {HARD: round(float(step[f"hard {way.name}"]), 2)} if f"hard {way.name}" in step else {}
    return dict(zip(step["names"].tolist(), step["recalls"].tolist(), strict=True)) | hard
