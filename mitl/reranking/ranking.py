"""Rank all items for some queries by corrected scores, with matched items first."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.progress import Progress, silent
from mitl.hubness.best import best_places
from mitl.hubness.blocks import MEMORY, Blocks
from mitl.hubness.corrections import Csls, LogInvertedSoftmax
from mitl.hubness.matching import scored_matching
from mitl.reranking.steps import Step

Indices = NDArray[np.int64]


def rerank(
    blocks: Blocks,
    steps: Sequence[Step],
    depth: int,
    *,
    rows: Indices | None = None,
    memory: int = MEMORY,
    progress: Progress = silent,
) -> tuple[Indices, NDArray[np.float32]]:
    """Return the best items of queries after ``steps``, in order, and their scores.

    ``blocks`` has a row for every query of the asking side, whoever wants a list: corrections and matchings are
    over all of them, so that a query's list does not depend on which others were sampled. What a step gives:

    - ``csls``: CSLS scores (the query's own term changes nothing in its list);
    - ``is``: the logarithm of eq. 5, the query left out;
    - ``rgm``: the items matched to the query first, by falling score, then the others by falling score.

    A score is the pair's own after the correction. With ``rgm`` scores therefore fall among the matched and among
    the others, and may rise once between the two.

    Args:
        steps: as ``parse_steps`` gives them; none = the plain search.
        depth: how long lists are, 1 to M.
        rows: the queries whose lists are wanted, rising; None = all.
        memory: bytes for tiles and lists beside inputs and results.

    Returns:
        Items and scores, (len(rows), depth).

    Raises:
        ValueError: for a depth, rows or a setting that this matrix does not allow, or NaN among the scores.
    """
    if not 1 <= depth <= blocks.shape[1]:
        raise ValueError(f"Lists must be 1 to {blocks.shape[1]} items long, not {depth}.")
    rows = np.arange(blocks.shape[0]) if rows is None else np.asarray(rows, dtype=np.int64)
    if (np.diff(rows, prepend=-1, append=blocks.shape[0]) < 1).any():
        raise ValueError(f"The rows whose lists are wanted must rise from 0 to {blocks.shape[0] - 1}, each once.")
    scores = corrected(blocks, steps, memory=memory, progress=progress)
    return ranked(scores, steps, depth, rows, memory=memory, progress=progress)


def corrected(blocks: Blocks, steps: Sequence[Step], *, memory: int, progress: Progress) -> Blocks:
    """Return the scores after the correction among the steps, if there is one; their statistics are read here."""
    for step in steps:
        if step.name == "csls":
            return Csls(blocks, int(step["k"]), memory=memory, progress=progress)
        if step.name == "is":
            return LogInvertedSoftmax(blocks, step["beta"], memory=memory, progress=progress)
    return blocks


def ranked(
    scores: Blocks, steps: Sequence[Step], depth: int, rows: Indices, *, memory: int, progress: Progress
) -> tuple[Indices, NDArray[np.float32]]:
    """Rank by corrected scores; match first where the steps say so."""
    items, best = best_places(scores, depth, rows=rows, memory=memory, progress=progress)
    if steps and steps[-1].name == "rgm":
        k, relaxation = int(steps[-1]["k"]), steps[-1]["relaxation"]
        pairs, matched = scored_matching(scores, k, relaxation, memory=memory, progress=progress)
        items, best = _matched_first(_lists_of(pairs, matched, scores.shape, k, rows), (items, best))
    return items, best.astype(np.float32)


def _lists_of(
    pairs: Indices, scores: NDArray[np.float64], shape: tuple[int, int], k: int, rows: Indices
) -> tuple[Indices, NDArray[np.float64]]:
    """Turn pairs in falling order into a list for each of some rows, at most k long, filled up with -1."""
    n_rows, width = shape[0], min(k, shape[1])
    order = np.argsort(pairs[:, 0], kind="stable")
    counts = np.bincount(pairs[:, 0], minlength=n_rows)
    places = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts)
    items, best = np.full((n_rows, width), -1, dtype=np.int64), np.full((n_rows, width), -np.inf)
    items[pairs[order, 0], places] = pairs[order, 1]
    best[pairs[order, 0], places] = scores[order]
    return items[rows], best[rows]


def _matched_first(
    matched: tuple[Indices, NDArray[np.float64]], by_score: tuple[Indices, NDArray[np.float64]]
) -> tuple[Indices, NDArray[np.float64]]:
    """Join two lists a row: the first without its fill, then of the second what the first does not have."""
    depth = by_score[0].shape[1]
    again = np.zeros(by_score[0].shape, dtype=np.bool_)
    for place in range(matched[0].shape[1]):
        again |= by_score[0] == matched[0][:, place : place + 1]
    left_out = np.concatenate([matched[0] < 0, again], axis=1)
    kept = np.argsort(left_out, axis=1, kind="stable")[:, :depth]
    items, scores = (np.concatenate(both, axis=1) for both in zip(matched, by_score, strict=True))
    return np.take_along_axis(items, kept, 1), np.take_along_axis(scores, kept, 1)
