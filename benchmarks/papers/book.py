"""The papers' book: ``page.txt`` has a row for every numbered table and figure, functions compute what fills its slots.

The function of the row "table A.1" is ``table_a1`` in a module of the chapter. It takes the folder of public files.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

SLOT = "{}"
STATUSES = ("equal", "differs", "drawn data", "input not public")


class Made(NamedTuple):
    """What a function computes: the figures next to the paper's, and the table in Markdown that it adds to them."""

    ours: str
    details: str = ""


@dataclass(frozen=True)
class Row:
    """A line of the page: |table A.1: subject|paper|ours|command|input|status|. Raises ValueError for a line without a
    command, or with an unknown status."""

    line: str

    def __post_init__(self) -> None:
        if not self.cells[3]:
            raise ValueError(f"{self.number}: name the command that makes it.")
        if self.status not in STATUSES:
            raise ValueError(f"{self.number}: unknown status {self.status}; choose from {', '.join(STATUSES)}.")

    @property
    def cells(self) -> list[str]:
        return self.line.strip("|").split("|")

    @property
    def number(self) -> str:
        return self.cells[0].partition(":")[0]

    @property
    def status(self) -> str:
        return self.cells[-1].partition(":")[0]

    @property
    def function(self) -> str:
        return self.number.lower().replace(".", "").replace(" ", "_")


def rows_of(chapter: str) -> list[Row]:
    lines = [line for line in chapter.splitlines() if line.startswith("|")]
    return [Row(line) for line in lines[2:]]


def computed(chapter: str, modules: Sequence[ModuleType], data: Path) -> str:
    """Return a chapter of the page with its slots filled, and below it the details of its rows."""
    found = {name: value for module in modules for name, value in vars(module).items()}
    details = []
    for row in rows_of(chapter):
        if SLOT in row.line:
            made = found[row.function](data)
            chapter = chapter.replace(row.line, row.line.replace(SLOT, made.ours))
            if made.details:
                details.append(f"### {row.cells[0][0].upper()}{row.cells[0][1:]}\n\n{made.details.strip()}\n")
    return "\n".join([chapter.rstrip() + "\n", *details])


def summary(chapters: Iterable[str]) -> str:
    """Return how many rows there are of each status."""
    counts = Counter(row.status for chapter in chapters for row in rows_of(chapter))
    return f"{counts.total()} rows. {'; '.join(f'{status}: {counts[status]}' for status in STATUSES)}."


def markdown(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in Markdown; numbers that are not whole have two places, or one from 1 on, as in Hodosh et al."""
    lines = [heads, ["---"] * len(heads), *([_cell(one) for one in row] for row in rows)]
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def _cell(value: object) -> str:
    if not isinstance(value, float | np.floating):
        return str(value)
    return "–" if np.isnan(value) else f"{value:.2f}" if abs(value) < 1 else f"{value:.1f}"


def numbers(values: Iterable[float], places: int = 1, between: str = ", ") -> str:
    return between.join(f"{value:.{places}f}" for value in values)
