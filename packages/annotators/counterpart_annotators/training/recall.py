"""Recall of both directions on a validation split, in percent."""

import numpy as np
from numpy.typing import NDArray

from counterpart_annotators.base import CrossEncoder, OpenAnnotator
from counterpart_annotators.plain import TO_CAPTIONS, TO_IMAGES
from counterpart_annotators.progress import Progress, silent, tracked
from counterpart_annotators.training.learners import TrainingSet
from counterpart_topk.hubness.score_blocks import Blocks, Transposed, best_places

DEPTHS = (1, 5, 10)
RSUM = "rsum"
FEW_PAIRS = 100
FEW_ITEMS = 16

Recalls = dict[str, float]


def measure(annotator: OpenAnnotator, split: TrainingSet, progress: Progress = silent) -> Recalls:
    """Return R@1, R@5 and R@10 of both directions, in percent, by names like ``i2t R@1``, and their sum, ``rsum``.

    A query counts as found at k if any of its known matches is among its k best; of equal scores the lower place is
    better. Every image and caption with a known match is a query, all of the split are items.

    A cross-encoder, whose scores are expensive, instead ranks the true item of at most 100 pairs among 15 others, the
    same ones each time; the names then end in ``of 16``, as such figures are higher.
    """
    if isinstance(annotator, CrossEncoder):
        return _named(_few_ranks(annotator, split, progress), f" of {FEW_ITEMS}")
    blocks = annotator.scores(split.images, split.captions, progress=progress)
    ranks = {
        TO_CAPTIONS: _ranks(blocks, split.pairs),
        TO_IMAGES: _ranks(Transposed(blocks), split.pairs[:, ::-1]),
    }
    return _named(ranks)


def rsum(recalls: Recalls) -> float:
    """Return the figure by which epochs are compared."""
    return next(figure for name, figure in recalls.items() if name.startswith(RSUM))


def _named(ranks: dict[str, NDArray[np.int64]], ending: str = "") -> Recalls:
    recalls = {
        f"{direction} R@{k}{ending}": 100 * float((places < k).mean())
        for direction, places in ranks.items()
        for k in DEPTHS
    }
    return {name: round(figure, 2) for name, figure in [*recalls.items(), (RSUM + ending, sum(recalls.values()))]}


def _ranks(blocks: Blocks, positives: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for each query with a positive, the place of its first one, from 0; at most the largest of DEPTHS."""
    n_items = blocks.shape[1]
    queries = np.unique(positives[:, 0])
    items, _ = best_places(blocks, min(max(DEPTHS), n_items), rows=queries)
    right = np.isin(queries[:, None] * n_items + items, positives[:, 0] * n_items + positives[:, 1])
    return np.where(right.any(1), right.argmax(1), max(DEPTHS))


def _few_ranks(annotator: CrossEncoder, split: TrainingSet, progress: Progress) -> dict[str, NDArray[np.int64]]:
    """Return the places of the true items, from 0; of equal scores the true item is last."""
    annotator.check_pictures(split.images)
    rng = np.random.default_rng(0)
    chosen = split.pairs[np.sort(rng.permutation(len(split.pairs))[:FEW_PAIRS])]
    shape = len(split.images), len(split.captions)
    tasks = {
        TO_CAPTIONS: _tasks(chosen, split.pairs, shape[1], rng),
        TO_IMAGES: _tasks(chosen[:, ::-1], split.pairs[:, ::-1], shape[0], rng)[..., ::-1],
    }
    codes = {direction: pairs[..., 0] * shape[1] + pairs[..., 1] for direction, pairs in tasks.items()}
    needed = np.unique(np.concatenate([code.ravel() for code in codes.values()]))
    scores = _scores(annotator, split, needed, progress)
    of_tasks = {direction: scores[np.searchsorted(needed, code)] for direction, code in codes.items()}
    return {direction: (given[:, 1:] >= given[:, :1]).sum(1) for direction, given in of_tasks.items()}


def _tasks(
    chosen: NDArray[np.int64], known: NDArray[np.int64], n_items: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return each chosen pair (query, item) with other items of its query that are not known to match: (Q, up to 16,
    2), the same number for each."""
    drawn = []
    for query, item in chosen:
        others = np.setdiff1d(np.arange(n_items), known[known[:, 0] == query, 1])
        items = np.concatenate([[item], rng.permutation(others)[: FEW_ITEMS - 1]])
        drawn.append(np.stack([np.full(len(items), query), items], axis=1))
    shortest = min(map(len, drawn))
    return np.stack([pairs[:shortest] for pairs in drawn])


def _scores(
    annotator: CrossEncoder, split: TrainingSet, codes: NDArray[np.int64], progress: Progress
) -> NDArray[np.float32]:
    """Score pairs, given as rising numbers image * M + caption, in batches of the annotator's size."""
    ready = annotator.ready(split.images, split.captions)
    images, captions = np.divmod(codes, len(split.captions))
    starts = range(0, len(codes), annotator.batch_size)
    parts = tracked((slice(start, start + annotator.batch_size) for start in starts), "validating", progress, every=1)
    return np.concatenate([ready.pairs(images[part], captions[part]) for part in parts])
