"""The parts of the papers' book: chapters, and their items."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Status(StrEnum):
    """How our figures compare with those that a paper prints."""

    EQUAL = "equal"
    DIFFERS = "differs"
    DRAWN = "drawn data"
    CLOSED = "input not public"


@dataclass(frozen=True)
class Item:
    """A numbered table or figure of a paper.

    ``number`` is as printed ("table 3", "figure A.1"), ``paper`` and ``ours`` hold the figures to compare, ``source``
    the input of ours, ``command`` what a user of Counterpart runs for such a table. Every status but EQUAL needs the
    reason, ``because``. ``details`` is the whole table in Markdown, where its input is public.
    """

    number: str
    subject: str
    paper: str
    ours: str
    source: str
    command: str
    status: Status
    because: str = ""
    details: str = ""

    def __post_init__(self) -> None:
        if (self.status is Status.EQUAL) == bool(self.because):
            raise ValueError(f"{self.number}: give a reason unless the figures are equal.")
        if not self.command:
            raise ValueError(f"{self.number}: name the command that makes it.")


@dataclass(frozen=True)
class Chapter:
    """A paper and its items in printed order; an item that must be computed is a function of the data folder."""

    name: str
    title: str
    items: tuple[Item | Callable[[Path], Item], ...]

    def computed(self, data: Path) -> list[Item]:
        return [item if isinstance(item, Item) else item(data) for item in self.items]
