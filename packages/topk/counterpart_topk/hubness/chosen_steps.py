"""Choose the settings of a re-ranking, and the number of its steps, where the right answers are known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from counterpart_topk.hubness.reranking import Step, Steps, corrected, ranked, written
from counterpart_topk.hubness.score_blocks import MEMORY, Blocks, Transposed, in_memory
from counterpart_topk.progress import Progress, silent

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
    by_row = OneDirection(blocks, positives, memory)
    by_column = OneDirection(Transposed(blocks), positives[:, ::-1], memory)
    trials = []
    for number, steps in enumerate(candidates, 1):
        trials.append(Trial(steps, by_row.recall(steps), by_column.recall(steps)))
        progress("trying re-rankings", number, len(candidates))
    return Choice(min(trials, key=lambda trial: (-trial.recall, len(trial.steps))), trials)


class OneDirection:
    """Recall of one direction, in 0..1, under several re-rankings: of the rows that have a positive."""

    def __init__(self, blocks: Blocks, positives: NDArray[np.int64], memory: int = MEMORY) -> None:
        self._blocks = blocks
        self._memory = memory
        self._rows = np.unique(positives[:, 0])
        self._right = positives[:, 0] * blocks.shape[1] + positives[:, 1]
        self._corrected: tuple[Steps, Blocks] = ((), blocks)

    def recall(self, steps: Steps, depth: int = 1) -> float:
        """Return the share of rows with a positive among their first ``depth`` items."""
        scores = self._after(tuple(step for step in steps if step.name != "rgm"))
        items, _ = ranked(scores, steps, depth, self._rows, memory=self._memory, progress=silent)
        return float(np.isin(self._rows[:, None] * self._blocks.shape[1] + items, self._right).any(1).mean())

    def _after(self, corrections: Steps) -> Blocks:
        """Return the corrected scores, read again only where the last candidate's correction was another."""
        if self._corrected[0] != corrections:
            scores = corrected(self._blocks, corrections, memory=self._memory, progress=silent)
            self._corrected = corrections, in_memory(scores, self._memory)
        return self._corrected[1]
