"""Choose a re-ranking's settings for one annotator on the validation split, where the right answers are known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from core.text import counted
from corpus.matches import known_pairs
from corpus.models import Collection, Match
from counterpart_annotators.base import OpenAnnotator
from counterpart_topk.hubness.score_blocks import MEMORY, Blocks, Transposed
from mitl.hosting.plain_rows import plain_captions, plain_images
from mitl.search.rerank import Step, Steps, corrected, ranked, written

SPLIT = "val"
GRID: dict[str, dict[str, tuple[float, ...]]] = {
    "csls": {"k": (5, 10, 20)},
    "is": {"beta": (10, 30, 100)},
    "rgm": {"k": (5, 10), "relaxation": (1, 1.5, 2, 3, 5)},
}


@dataclass(frozen=True)
class Trial:
    """One re-ranking and its R@1, in 0..1: of the rows' lists, of the columns' lists."""

    steps: Steps
    row_recall: float
    column_recall: float

    @property
    def recall(self) -> float:
        """The mean of both directions."""
        return (self.row_recall + self.column_recall) / 2

    def __str__(self) -> str:
        return f"{written(self.steps)}: R@1 {100 * self.recall:.2f}"


@dataclass(frozen=True)
class Choice:
    """The best trial, and all trials in their order."""

    best: Trial
    trials: list[Trial]


def choose_steps(opened: OpenAnnotator, collection: Collection, steps: Steps, *, progress: Progress = silent) -> Choice:
    """Return what was tried in place of ``steps``, from the plain search on, and the trial with the highest R@1.

    Raises CounterpartError as ``validation_blocks`` does, ValueError as ``choose`` does.
    """
    validation = validation_blocks(opened, collection, progress=progress)
    candidates = variations(steps, validation.blocks.shape)
    return choose(validation.blocks, validation.positives, candidates, progress=progress)


@dataclass(frozen=True)
class ValidationScores:
    """Scores of the split's images (rows) and captions (columns), and its original pairs as places (P, 2)."""

    blocks: Blocks
    positives: NDArray[np.int64]


def validation_blocks(
    opened: OpenAnnotator, collection: Collection, *, progress: Progress = silent
) -> ValidationScores:
    """Return an annotator's scores over the images of split ``val`` and their captions, with the original matches.

    Raises CounterpartError where the collection has no such split, or the annotator has no scores.
    """
    images = list(collection.images.filter(split=SPLIT).only("collection", "key", "file", "sha256", "split"))
    captions = list(collection.captions.filter(image__split=SPLIT).only("collection", "key", "text", "image_id"))
    if not images or not captions:
        splits = collection.images.order_by("split").values_list("split", flat=True).distinct()
        named = ", ".join(split or "none" for split in splits) or "none yet"
        raise CounterpartError(
            f"{collection} has {counted(len(images), 'image')} and {counted(len(captions), 'caption')} in the split "
            f"{SPLIT!r}, on which settings are chosen; its splits are: {named}. Import that split too, "
            "or pass the settings instead of --tune."
        )
    keys = {image.pk: image.key for image in images}
    return ValidationScores(
        opened.scores(plain_images(images), plain_captions(captions, keys), progress=progress),
        _places_of_pairs(
            known_pairs(collection, Match.ORIGINAL), [row.pk for row in images], [row.pk for row in captions]
        ),
    )


def _places_of_pairs(pairs: NDArray[np.int64], images: list[int], captions: list[int]) -> NDArray[np.int64]:
    """Turn pairs of ids into places, leaving out pairs that are not of these images and captions (rising ids)."""
    inside = pairs[np.isin(pairs[:, 0], images) & np.isin(pairs[:, 1], captions)]
    return np.stack([np.searchsorted(images, inside[:, 0]), np.searchsorted(captions, inside[:, 1])], axis=1)


def variations(steps: Sequence[Step], shape: tuple[int, int]) -> list[Steps]:
    """Return what to try in place of ``steps``: no step, the first alone, and so on, with all settings of ``GRID``.

    Settings that scores of this ``shape`` do not allow (more neighbours than items) are left out.
    """
    return [
        tuple(chosen)
        for length in range(len(steps) + 1)
        for chosen in product(*(list(_settings_of(step.name, min(shape))) for step in steps[:length]))
    ]


def _settings_of(name: str, most: int) -> Iterator[Step]:
    grid = GRID[name]
    for numbers in product(*grid.values()):
        step = Step(name, tuple(zip(grid, numbers, strict=True)))
        if name != "csls" or step["k"] <= most:
            yield step


def choose(
    blocks: Blocks,
    positives: NDArray[np.int64],
    candidates: Sequence[Steps],
    *,
    memory: int = MEMORY,
    progress: Progress = silent,
) -> Choice:
    """Try every candidate and return the one of highest R@1, the mean of both directions.

    Of equal trials the one with the fewest steps wins, then the first. A candidate costs two to four
    passes over the scores; a correction's statistics are read once for candidates next to each other.

    Args:
        blocks: validation scores (N, M).
        positives: (P, 2) places of the known matches. Queries without any are not counted.
        candidates: see ``variations``.

    Raises:
        ValueError: for no positives or no candidates.
    """
    if not len(positives) or not candidates:
        raise ValueError(f"Settings cannot be chosen with {len(positives)} positives, {len(candidates)} candidates.")
    by_row = _FirstPlaces(blocks, positives, memory)
    by_column = _FirstPlaces(Transposed(blocks), positives[:, ::-1], memory)
    trials = []
    for number, steps in enumerate(candidates, 1):
        trials.append(Trial(steps, by_row.recall(steps), by_column.recall(steps)))
        progress("trying re-rankings", number, len(candidates))
    return Choice(min(trials, key=lambda trial: (-trial.recall, len(trial.steps))), trials)


class _FirstPlaces:
    """R@1 of one direction under several re-rankings."""

    def __init__(self, blocks: Blocks, positives: NDArray[np.int64], memory: int) -> None:
        self._blocks = blocks
        self._memory = memory
        self._rows = np.unique(positives[:, 0])
        self._right = positives[:, 0] * blocks.shape[1] + positives[:, 1]
        self._corrected: tuple[Steps, Blocks] = ((), blocks)

    def recall(self, steps: Steps) -> float:
        scores = self._after(tuple(step for step in steps if step.name != "rgm"))
        items, _ = ranked(scores, steps, 1, self._rows, memory=self._memory, progress=silent)
        return float(np.isin(self._rows * self._blocks.shape[1] + items[:, 0], self._right).mean())

    def _after(self, corrections: Steps) -> Blocks:
        """Return the corrected scores, read again only where the last candidate's correction was another."""
        if self._corrected[0] != corrections:
            scores = corrected(self._blocks, corrections, memory=self._memory, progress=silent)
            self._corrected = corrections, scores
        return self._corrected[1]
