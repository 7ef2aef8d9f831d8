"""Boards: models by metrics, each figure with what it says. Averages of both directions come first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.text import counted
from counterpart_metrics.figures import Figure
from evaluation.models import Run
from mitl.models import Direction

AVERAGE = "average"
LABELS = {AVERAGE: "average of both"} | {direction.value: direction.label for direction in Direction}
PARTS = tuple(LABELS)
QUERIES = {Direction.IMAGE_TO_CAPTION: "image", Direction.CAPTION_TO_IMAGE: "caption"}
"""What the queries of a direction are."""
Kind = Literal["counted", "estimated"]


@dataclass(frozen=True)
class Column:
    """``part`` is ``average`` or a direction. ``benchmark`` is empty where a board is about one version."""

    part: str
    metric: str
    benchmark: str = ""

    def __str__(self) -> str:
        return " ".join(word for word in (self.benchmark, self.part, self.metric) if word)


@dataclass(frozen=True)
class Cell:
    """A figure and what it says.

    Attributes:
        best: the highest of its column.
        tied: not significantly different from the best.
        kind: counted, or estimated from a part of the judgments.
        estimand: what the figure is the mean of over queries: a metric with, for example, ``matches of version v1``.
        question: what the interval is of: ``these`` queries, all those of the pool; ``wide``, with the first items of
            models outside it; or queries ``like`` them, as of a bootstrap.
        level: confidence of the interval.
        is_open: the interval of its difference to the next lower figure of its column holds 0.
    """

    figure: Figure
    best: bool = False
    tied: bool = False
    kind: Kind = "counted"
    estimand: str = ""
    question: str = "like"
    level: float = 0.95
    is_open: bool = False

    @property
    def percent(self) -> str:
        return f"{100 * self.figure.value:.1f}"

    @property
    def interval(self) -> str:
        return interval_text(self.figure)


def interval_text(figure: Figure) -> str:
    """Return the 95% interval in percent, empty if there is none."""
    return "" if np.isnan(figure.low) else f"{100 * figure.low:.1f}–{100 * figure.high:.1f}"


@dataclass(frozen=True)
class Row:
    """A model with its cells; ``run`` is None for rankings that are not registered."""

    model: str
    cells: Mapping[Column, Cell]
    run: Run | None = None
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Board:
    columns: Sequence[Column]
    rows: Sequence[Row]

    @property
    def parts(self) -> list[str]:
        return list(dict.fromkeys(column.part for column in self.columns))

    @property
    def metrics(self) -> list[str]:
        return list(dict.fromkeys(column.metric for column in self.columns))

    @property
    def groups(self) -> list[tuple[str, str, int]]:
        """Each part with its label and its number of columns."""
        return [(part, LABELS[part], sum(column.part == part for column in self.columns)) for part in self.parts]

    def blocks(self) -> dict[str, list[Column]]:
        """Return the columns of each part, by its title; of several benchmarks, of each part of each."""
        blocks: dict[str, list[Column]] = {}
        for column in self.columns:
            blocks.setdefault(" ".join(filter(None, (column.benchmark, LABELS[column.part]))), []).append(column)
        return blocks

    def lines(self) -> list[tuple[Row, list[Cell | None]]]:
        """Each row with its cells in the order of the columns."""
        return [(row, [row.cells.get(column) for column in self.columns]) for row in self.rows]

    @property
    def sources(self) -> list[str]:
        """A sentence for each kind and estimand: what the figures are, and from how many queries."""
        queries: dict[tuple[Kind, str], dict[Direction, set[int]]] = {}
        for row in self.rows:
            for column, cell in row.cells.items():
                if column.part != AVERAGE and cell.estimand:
                    sides = queries.setdefault((cell.kind, cell.estimand), {})
                    sides.setdefault(Direction(column.part), set()).add(cell.figure.queries)
        return [
            f"{kind.capitalize()} of the {estimand}, from {' and '.join(_numbers(sides))}."
            for (kind, estimand), sides in queries.items()
        ]


def joined(named: Iterable[tuple[str, Board]]) -> Board:
    """Return the boards of several benchmarks, each with its name, as one: all averages first, then each direction."""
    boards = list(named)
    columns = {
        (name, column): Column(column.part, column.metric, name)
        for part in PARTS
        for name, board in boards
        for column in board.columns
        if column.part == part
    }
    rows: dict[str, Row] = {}
    for name, board in boards:
        for row in board.rows:
            cells = {columns[name, column]: cell for column, cell in row.cells.items()}
            before = rows.get(row.model, Row(row.model, {}))
            notes = [*before.notes, *(f"{name}, {note}" for note in row.notes)]
            rows[row.model] = Row(row.model, {**before.cells, **cells}, notes=notes)
    return Board(list(columns.values()), list(rows.values()))


def notes_of(board: Board) -> list[str]:
    """Return the notes of all rows, a sentence each, with the model's name."""
    return [f"{row.model} {note}" for row in board.rows for note in row.notes]


def _numbers(sides: Mapping[Direction, set[int]]) -> list[str]:
    """``14 images``, ``12 to 14 captions``: the least and the greatest number of queries of each direction."""
    return [
        (f"{min(found):,} to " if len(found) > 1 else "") + counted(max(found), QUERIES[direction])
        for direction, found in sides.items()
    ]
