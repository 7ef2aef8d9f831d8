"""Re-rankings side by side: recall of each method at several depths, and of RGM by its relaxation.

Tables 3 and 4 and figure 4 of the hubness paper. ``rgm`` matches every query k times for recall at k, as algorithm 1
has it; places that it leaves open are filled by score. GM is RGM with a relaxation of 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterpart_topk.hubness.chosen_steps import OneDirection
from counterpart_topk.hubness.corrections import BETA, DEPTHS, NEIGHBOURS
from counterpart_topk.hubness.reranking import Step, Steps
from counterpart_topk.hubness.score_blocks import MEMORY, Blocks, Transposed, in_memory
from counterpart_topk.progress import Progress, silent

Positives = NDArray[np.int64]
NAIVE, GREEDY = "NNS", "GM"
RELAXED = ("RGM", "IS+RGM", "CSLS+RGM")
METHODS = (NAIVE, GREEDY, "RGM", "IS", "CSLS", "IS+RGM", "CSLS+RGM")
RELAXATIONS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
USUAL = 2.0
BY_RELAXATION = "by relaxation"
CORRECTIONS = {"IS": Step("is", (("beta", BETA),)), "CSLS": Step("csls", (("k", NEIGHBOURS),))}


@dataclass(frozen=True)
class MethodRecall:
    """Recall of a method in percent, at ``DEPTHS``: of the rows' lists and of the columns' lists. ``relaxation``: of
    RGM, None where the method does not match."""

    method: str
    relaxation: float | None
    rows: tuple[float, ...]
    columns: tuple[float, ...]

    @property
    def rsum(self) -> float:
        """The sum of all recalls."""
        return sum(self.rows) + sum(self.columns)

    def figures(self, rows: str = "i2t", columns: str = "t2i") -> dict[str, str | float | None]:
        """Return all figures by name, such as ``i2t R@1``; rows and columns have the names of the directions."""
        named = [f"{direction} R@{k}" for direction in (rows, columns) for k in DEPTHS]
        recalls = dict(zip(named, self.rows + self.columns, strict=True))
        return {"method": self.method, "relaxation": self.relaxation, **recalls, "rsum": self.rsum}


def compare_methods(
    blocks: Blocks,
    positives: Positives,
    relaxations: Mapping[str, float] | None = None,
    *,
    progress: Progress = silent,
) -> list[MethodRecall]:
    """Return the recalls of ``METHODS`` in their order (hubness paper, tables 3 and 4).

    Args:
        blocks: scores (N, M), such as images by captions.
        positives: (P, 2) places of the known matches. Queries without any are not counted.
        relaxations: by name of ``RELAXED``, as ``best_relaxations`` returns them; 2 where none is given.

    Raises:
        ValueError: for no positives, and for fewer than ten rows or columns, which CSLS and recall at 10 need.
    """
    chosen = {GREEDY: 1.0, **dict.fromkeys(RELAXED, USUAL), **(relaxations or {})}
    return _measured(blocks, positives, [(method, chosen.get(method)) for method in METHODS], progress)


def vary_relaxation(
    blocks: Blocks,
    positives: Positives,
    relaxations: Iterable[float] = RELAXATIONS,
    *,
    progress: Progress = silent,
) -> list[MethodRecall]:
    """Return the recalls of ``RELAXED`` at each relaxation (figure 4).

    Raises ValueError as ``compare_methods`` does.
    """
    tried = sorted(relaxations)
    return _measured(blocks, positives, [(method, one) for method in RELAXED for one in tried], progress)


def best_relaxations(tried: Sequence[MethodRecall]) -> dict[str, float]:
    """Return the relaxation of highest rsum of each method that ``vary_relaxation`` tried, the first of equals."""
    best: dict[str, MethodRecall] = {}
    for one in tried:
        if one.method not in best or one.rsum > best[one.method].rsum:
            best[one.method] = one
    return {method: one.relaxation for method, one in best.items() if one.relaxation is not None}


def tuned_tables(
    tried_on: tuple[Blocks, Positives], measured: tuple[Blocks, Positives] | None = None, *, progress: Progress = silent
) -> list[dict[str, str | float | None]]:
    """Return the figures of two tables, which ``table`` names: ``METHODS`` on ``measured``, with the relaxations of
    highest rsum on ``tried_on``; and ``RELAXED`` on ``tried_on`` at each relaxation.

    Both sides are scores and places of matches. Without ``measured`` both tables are of the same scores, and the
    relaxations are 2. Raises ValueError as ``compare_methods`` does.
    """
    scores = in_memory(tried_on[0], MEMORY)
    tried = vary_relaxation(scores, tried_on[1], progress=progress)
    chosen = best_relaxations(tried) if measured else {}
    last = (in_memory(measured[0], MEMORY), measured[1]) if measured else (scores, tried_on[1])
    found = [{"table": "methods", **one.figures()} for one in compare_methods(*last, chosen, progress=progress)]
    return found + [{"table": BY_RELAXATION, **one.figures()} for one in tried]


def _measured(
    blocks: Blocks, positives: Positives, wanted: list[tuple[str, float | None]], progress: Progress
) -> list[MethodRecall]:
    if not len(positives) or min(blocks.shape) < max(DEPTHS):
        raise ValueError(
            f"Methods are compared on {max(DEPTHS)} rows and columns or more with known matches, not on"
            f" {blocks.shape[0]} x {blocks.shape[1]} with {len(positives)}."
        )
    sides = OneDirection(blocks, positives), OneDirection(Transposed(blocks), positives[:, ::-1])
    found: dict[tuple[str, float | None], MethodRecall] = {}
    # Methods of one correction follow each other, so that it is computed once.
    for number, (method, relaxation) in enumerate(sorted(wanted, key=lambda one: _correction(one[0])), 1):
        rows, columns = (
            tuple(100 * side.recall(_steps(method, relaxation, depth), depth) for depth in DEPTHS) for side in sides
        )
        found[method, relaxation] = MethodRecall(method, relaxation, rows, columns)
        progress("comparing re-rankings", number, len(wanted))
    return [found[one] for one in wanted]


def _correction(method: str) -> str:
    first = method.partition("+")[0]
    return first if first in CORRECTIONS else ""


def _steps(method: str, relaxation: float | None, depth: int) -> Steps:
    steps = [CORRECTIONS[name] for name in [_correction(method)] if name]
    if relaxation is not None:
        steps.append(Step("rgm", (("k", depth), ("relaxation", relaxation))))
    return tuple(steps)
