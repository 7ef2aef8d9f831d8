"""The hubness paper's re-rankings on COCO's captions: 1,000 images of the test split at a time, scored by word overlap.

An image is the words of its other captions (the annotator ``overlap``), so that public text alone gives real scores.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.book import markdown
from benchmarks.papers.public_files import coco_captions
from counterpart_annotators.kinds.overlap import OverlapScores
from counterpart_topk.hubness import Matrix, Transposed, k_occurrence, relaxed_greedy_matching, skewness
from counterpart_topk.hubness.reranking import parse_steps, rerank
from counterpart_topk.hubness.step_tables import MethodRecall, best_relaxations, compare_methods, vary_relaxation

FOLD, EACH = 1000, 5  # images, and their captions
TUNED_ON, MEASURED = 0, (1, 2)  # folds
RELAXATIONS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
STEPS = {"NNS": "", "IS": "is", "CSLS": "csls", "RGM": "rgm", "IS+RGM": "is,rgm", "CSLS+RGM": "csls,rgm"}


@cache
def scores(data: Path, fold: int) -> Matrix:
    """Return the scores (1000, 5000) of a fold's images and captions, in the order of the Karpathy split."""
    rows = coco_captions(data)[fold * FOLD * EACH : (fold + 1) * FOLD * EACH]
    own = np.repeat(np.arange(FOLD), EACH)
    overlap = OverlapScores([row["text"] for row in rows], own.tolist(), FOLD)
    return Matrix(overlap.block(np.arange(FOLD), np.arange(FOLD * EACH)))


def positives() -> NDArray[np.int64]:
    """Return the places of a fold's original pairs."""
    captions = np.arange(FOLD * EACH)
    return np.stack([captions // EACH, captions], axis=1)


@cache
def by_relaxation(data: Path) -> list[MethodRecall]:
    """Return the recalls of RGM's methods on the fold on which relaxations are chosen."""
    return vary_relaxation(scores(data, TUNED_ON), positives(), RELAXATIONS)


@cache
def methods(data: Path) -> dict[str, NDArray[np.float64]]:
    """Return R@1, R@5, R@10 of images and of captions and rsum by method, as means over the other folds."""
    chosen = best_relaxations(by_relaxation(data))
    folds = [compare_methods(scores(data, fold), positives(), chosen) for fold in MEASURED]
    return {
        same[0].method: np.mean([[*one.rows, *one.columns, one.rsum] for one in same], axis=0)
        for same in zip(*folds, strict=True)
    }


def occurrences(data: Path) -> dict[str, NDArray[np.int64]]:
    """Return N_10 of the images in the captions' lists, by method, and among the matches of RGM alone (figure 3)."""
    captions = Transposed(scores(data, TUNED_ON))
    lists = {name: rerank(captions, parse_steps(text) if text else (), 10)[0] for name, text in STEPS.items()}
    counts = {name: k_occurrence(items, FOLD) for name, items in lists.items()}
    matched = relaxed_greedy_matching(captions, 10, 2)
    return {**counts, "RGM, matches": np.bincount(matched[:, 1], minlength=FOLD)}


def tails(counts: Mapping[str, NDArray[np.int64]], levels: tuple[int, ...]) -> str:
    """Return a table of distributions: how many items occur at least so often, the largest count, the skewness."""
    return markdown(
        ["", *(f"≥ {level}" for level in levels), "largest", "skewness"],
        (
            [name, *(int((one >= level).sum()) for level in levels), int(one.max()), f"{skewness(one):.2f}"]
            for name, one in counts.items()
        ),
    )


def worked_case() -> tuple[str, str]:
    """Return the pairs of algorithm 1 in a case worked by hand, k = 1: by hand, and computed."""
    similarity = [[0.9, 0.8, 0.1], [0.85, 0.7, 0.2], [0.6, 0.5, 0.3]]
    # lambda 1: 0.9, then 0.7 (0.8 and 0.85 meet a full row or column), then 0.3; lambda 2: 0.9, 0.85, 0.5.
    by_hand = {1: [[0, 0], [1, 1], [2, 2]], 2: [[0, 0], [1, 0], [2, 1]], np.inf: [[0, 0], [1, 0], [2, 0]]}
    found = {one: relaxed_greedy_matching(similarity, 1, one).tolist() for one in by_hand}
    return _pairs(by_hand), _pairs(found)


def _pairs(matched: dict[float, list[list[int]]]) -> str:
    return "; ".join(
        f"λ {'∞' if np.isinf(one) else one}: {' '.join(f'{i}{j}' for i, j in pairs)}" for one, pairs in matched.items()
    )
