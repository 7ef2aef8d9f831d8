"""What an annotator asks to have paired next: a round of Jo et al. (algorithm 1, lines 3 to 7), and its reverse.

The scores are those of ``counterpart_annotators.selection``; similarities are the annotator's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from counterpart_annotators.base import Arrays, EmbeddingAnnotator, OpenAnnotator
from counterpart_annotators.encoding import Embeddings, encode_rows
from counterpart_annotators.progress import Progress, silent
from counterpart_annotators.selection import WEIGHTS, bags_of_regions, core_set, hard_negative_share, hard_negatives
from counterpart_metrics.errors import CounterpartError

if TYPE_CHECKING:
    from counterpart_annotators.training.learners import TrainingSet
    from counterpart_topk.hubness.score_blocks import Blocks

BAGS = "core-set-bags"
RANDOM = "random"
SCORES = (*WEIGHTS, "core-set", BAGS, RANDOM)
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Way:
    """A way to choose: one of ``SCORES``, and the condition of hard negatives. ``mini_batch`` None: the full batch."""

    name: str
    score: str
    top_k: int = 1
    mini_batch: int | None = None


def ways_of(scores: Sequence[str], top_k: Sequence[int], mini_batches: Sequence[int | None]) -> tuple[Way, ...]:
    """Return the ways of a grid: scores by hard negatives with every condition, the others once.

    Names hold what differs, such as ``surplus-full-top-5``.
    """
    found = []
    for score in scores:
        if score not in WEIGHTS:
            found.append(Way(score, score))
            continue
        for pairs, place in product(mini_batches, top_k):
            batch = [f"mini-{pairs}" if pairs else "full"] if len(mini_batches) > 1 else []
            top = [f"top-{place}"] if len(top_k) > 1 else []
            found.append(Way("-".join([score, *batch, *top]), score, place, pairs))
    return tuple(found)


@dataclass(frozen=True)
class Round:
    """The state that a choice is made in.

    Attributes:
        opened: the annotator that was trained on the pairs.
        lessons: images and captions of equal number, image i with caption i.
        paired: the places of the pairs so far.
        asks_images: whether captions wait for images; else images wait for captions.
        progress: called while images and captions are read.
    """

    opened: OpenAnnotator
    lessons: "TrainingSet"
    paired: Places
    asks_images: bool = False
    progress: Progress = silent

    def chosen(self, ways: Sequence[Way], n: int, seed: int) -> Arrays:
        """Return by way the ``n`` places that it chooses, ``chosen NAME``, and of those by hard negatives the share of
        hard negatives in percent, ``hard NAME``. Equal scores are ordered at random.

        Raises CounterpartError for annotators without scores, or the embeddings that a score needs; ValueError for
        embeddings that cannot be compared, and fewer pairs than a condition needs.
        """
        # In random order: a stable order by score leaves equal ones in it, and the first pairs are a random mini-batch.
        rng = np.random.default_rng(seed)
        unpaired = rng.permutation(np.setdiff1d(np.arange(len(self.lessons.images)), self.paired))
        paired = rng.permutation(self.paired)
        items = np.concatenate([unpaired, paired])
        found: Arrays = {}
        scores = self._scores(items, paired) if any(way.score in WEIGHTS for way in ways) else None
        for way in ways:
            order = np.arange(n)
            if scores is not None and way.score in WEIGHTS:
                hard = hard_negatives(scores, top_k=way.top_k, mini_batch=way.mini_batch, weight=way.score)
                order = np.argsort(-hard, kind="stable")
                found[f"hard {way.name}"] = np.array(hard_negative_share(hard))
            elif way.score != RANDOM:
                vectors = self._vectors(items, way.score)
                order = core_set(vectors[len(unpaired) :], vectors[: len(unpaired)], n)
            found[f"chosen {way.name}"] = unpaired[order[:n]]
        return found

    def _scores(self, items: Places, paired: Places) -> "Blocks":
        """Return the scores of all items (rows) with the other halves of the paired ones."""
        from counterpart_topk.hubness.score_blocks import Transposed

        images, captions = (paired, items) if self.asks_images else (items, paired)
        scores = self.opened.scores(
            [self.lessons.images[place] for place in images],
            [self.lessons.captions[place] for place in captions],
            progress=self.progress,
        )
        return Transposed(scores) if self.asks_images else scores

    def _vectors(self, items: Places, score: str) -> Embeddings:
        """Return what Core-set compares of items: embeddings, the mean of an item's several ones, or bags of them."""
        if isinstance(self.opened, EmbeddingAnnotator):
            rows = self._encoded(self.opened, items)
            if score != BAGS:
                return rows if rows.ndim == 2 else rows.mean(1)
            if rows.ndim == 3:
                return bags_of_regions(rows).astype(np.float32)
        needed = "several embeddings of an item, such as imram's" if score == BAGS else "embeddings, such as vse's"
        raise CounterpartError(f"The score {score} needs {needed}; use another kind of annotator, or another score.")

    def _encoded(self, opened: EmbeddingAnnotator, items: Places) -> Embeddings:
        if self.asks_images:
            captions = [self.lessons.captions[place] for place in items]
            return encode_rows(opened.encode_captions, captions, None, "reading captions", self.progress)
        images = [self.lessons.images[place] for place in items]
        return encode_rows(opened.encode_images, images, None, "reading images", self.progress)
