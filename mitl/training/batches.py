"""The batches of one epoch: known pairs in random order, no image and no caption twice in a batch."""

from collections import deque
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mitl.training.learners import Batch, TrainingSet

# Number of batches' worth of pairs that are searched for one that fits. Without a limit, a caption with very many
# images would be skipped again and again.
LOOK_AHEAD = 8

Pairs = list[tuple[int, int]]


class Batches:
    """Batches of one set of examples, each of at most ``size`` pairs and at least two.

    Weights act by sampling: of pairs that weigh half as much as the heaviest ones, a random half takes part in an
    epoch. So a pair has its weight on average in every loss, and no learner needs to know it. An epoch in which no two
    of the sampled pairs fit into one batch takes all pairs.
    """

    def __init__(self, examples: TrainingSet, size: int) -> None:
        self._examples, self._size = examples, size

    def of_epoch(self, seed: int, number: int) -> Iterator[Batch]:
        """Yield the batches of the epoch of this number; the same seed and number give the same ones."""
        rng = np.random.default_rng([seed, number])
        pairs, weights = self._examples.pairs, self._examples.weights
        drawn = pairs[rng.permutation(np.flatnonzero(rng.random(len(weights)) < weights / weights.max()))]
        any_fit = next(disjoint(drawn, self._size), None) is not None
        for batch in disjoint(drawn if any_fit else rng.permutation(pairs), self._size):
            yield self._batch(*batch.T)

    def _batch(self, images: NDArray[np.int64], captions: NDArray[np.int64]) -> Batch:
        known = self._known[images][:, captions].toarray()
        np.fill_diagonal(known, val=False)
        return Batch(
            images=[self._examples.images[place] for place in images],
            captions=[self._examples.captions[place] for place in captions],
            known=known,
        )

    @cached_property
    def _known(self) -> sparse.csr_array:
        ones = np.ones(len(self._examples.pairs), dtype=np.bool_)
        shape = len(self._examples.images), len(self._examples.captions)
        return sparse.csr_array((ones, self._examples.pairs.T), shape=shape)


def disjoint(pairs: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    """Divide pairs (P, 2), in their order, into batches in which nothing occurs twice; what does not fit comes in the
    next one. A single pair that is left over is dropped: it has no negatives."""
    waiting = deque(map(tuple, pairs.tolist()))
    while waiting:
        batch, postponed = _next_batch(waiting, size)
        waiting.extendleft(reversed(postponed))
        if len(batch) > 1:
            yield np.array(batch)


def _next_batch(waiting: deque[tuple[int, int]], size: int) -> tuple[Pairs, Pairs]:
    batch: Pairs = []
    postponed: Pairs = []
    images: set[int] = set()
    captions: set[int] = set()
    while waiting and len(batch) < size and len(postponed) < LOOK_AHEAD * size:
        image, caption = waiting.popleft()
        if image in images or caption in captions:
            postponed.append((image, caption))
        else:
            batch.append((image, caption))
            images.add(image)
            captions.add(caption)
    return batch, postponed
