"""Score pairs with a cross-encoder, batch by batch; what was scored before an interruption is not scored again."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from time import perf_counter
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.progress import Progress, silent
from mitl.annotators.base import JointScores
from mitl.checkpoints import Checkpoints
from mitl.gallery import Gallery
from mitl.pairs import Pairs, Places

GROUP = 16  # batches: what is lost at most by an interruption
FEWEST_TIMED = 3  # batches
TIMED_FOR = 1.0  # seconds
GOLDEN_SECTION = (5**0.5 - 1) / 2

Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Scoring:
    """The pairs of a gallery to be scored, ``batch_size`` at a time, and where the finished ones are kept."""

    gallery: Gallery
    scores: JointScores
    pairs: Pairs
    batch_size: int
    kept: Checkpoints

    @property
    def groups(self) -> list[tuple[int, int]]:
        """Where each group of batches starts and ends."""
        step = GROUP * self.batch_size
        return [(start, min(start + step, len(self.pairs))) for start in range(0, len(self.pairs), step)]

    def count_kept(self) -> int:
        """Count the pairs whose scores an earlier try has left."""
        return sum(stop - start for start, stop in self.groups if _name(start) in self.kept)


class Pace(NamedTuple):
    """How fast pairs are scored, how many batches say so, and what a pair costs in money, where it does."""

    pairs_a_second: float
    batches: int
    price: Decimal | None = None


@runtime_checkable
class PaidScores(JointScores, Protocol):
    """Scores that cost money, and are kept for good: trying some again would tell nothing of those to come."""

    def pace(self) -> Pace | None:
        """Return the pace and price of all that was paid for so far; None where nothing was."""


def score_pairs(scoring: Scoring, *, progress: Progress = silent) -> Iterator[tuple[Places, Places, Scores]]:
    """Yield the images, captions and scores of all pairs in their order, a group of batches at a time.

    A group is kept when it is finished; one that was kept for the same pairs is read. Memory: one group.

    Raises CounterpartError for a score that is no finite number, ValueError for an answer of another shape.
    """
    for start, stop in scoring.groups:
        images, captions = scoring.pairs.part(start, stop)
        pairs = _digest(images, captions)
        part = scoring.kept.load(_name(start))
        if part is not None and np.array_equal(part["pairs"], pairs):
            scores = part["scores"]
            progress("scoring pairs", stop, len(scoring.pairs))
        else:
            scores = np.concatenate(list(_batches(scoring, images, captions, start, progress)))
            scoring.kept.save(_name(start), scores=scores, pairs=pairs)
        yield images, captions, scores


def measure_pace(scoring: Scoring) -> Pace:
    """Time real batches from all over the pairs, after one to warm up: three at least, and for about a second.

    Nothing is kept of them. No more batches are timed than the pairs make. Of scores that are paid for, the pace is
    that of those there are; some are paid for now only if there are none.
    """
    if not isinstance(scoring.scores, PaidScores):
        return _timed(scoring)
    before = scoring.scores.pace()
    if before is not None:
        return before
    timed = _timed(scoring)
    return scoring.scores.pace() or timed


def _timed(scoring: Scoring) -> Pace:
    _scored(scoring, *_some_batch(scoring, 0))
    most = max(FEWEST_TIMED, len(scoring.pairs) // scoring.batch_size)
    pairs, seconds, batches = 0, 0.0, 0
    while batches < FEWEST_TIMED or (seconds < TIMED_FOR and batches < most):
        batches += 1
        images, captions = _some_batch(scoring, batches)
        started = perf_counter()
        _scored(scoring, images, captions)
        seconds += perf_counter() - started
        pairs += len(images)
    return Pace(pairs / seconds, batches)


def _some_batch(scoring: Scoring, number: int) -> tuple[Places, Places]:
    """Return pairs of a batch, somewhere. Multiples of the golden section, less their whole part, fill 0 to 1 evenly
    however many there are."""
    room = max(0, len(scoring.pairs) - scoring.batch_size)
    start = int(number * GOLDEN_SECTION % 1 * room)
    return scoring.pairs.part(start, start + scoring.batch_size)


def _name(start: int) -> str:
    return f"pairs-{start}"


def _digest(images: Places, captions: Places) -> NDArray[np.uint8]:
    """SHA-256 of the pairs of a group: scores kept for any others are not theirs."""
    return np.frombuffer(hashlib.sha256(images.tobytes() + captions.tobytes()).digest(), dtype=np.uint8)


def _batches(scoring: Scoring, images: Places, captions: Places, start: int, progress: Progress) -> Iterator[Scores]:
    for first in range(0, len(images), scoring.batch_size):
        batch = slice(first, first + scoring.batch_size)
        yield _scored(scoring, images[batch], captions[batch])
        progress("scoring pairs", start + min(batch.stop, len(images)), len(scoring.pairs))


def _scored(scoring: Scoring, images: Places, captions: Places) -> Scores:
    scores = np.asarray(scoring.scores.pairs(images, captions), dtype=np.float32)
    if scores.shape != images.shape:
        raise ValueError(f"For {len(images)} pairs it gave scores of shape {scores.shape}.")
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        image = scoring.gallery.images[images[wrong[0]]].key
        caption = scoring.gallery.captions[captions[wrong[0]]].key
        raise CounterpartError(
            f"{len(wrong)} of {len(images)} scores of a batch are no finite numbers, the first that of image {image}"
            f" with caption {caption}. Look at this pair and at the machine's weights."
        )
    return scores
