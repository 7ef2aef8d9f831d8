"""How workers end a turn on a platform: they submit, submit twice, return the HIT or abandon it."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from simulation.http_browser import Page
from simulation.profiles import Profile

TURNED_AWAY = (403, 409, 410)  # statuses of our page for workers who cannot work on this HIT


class Task(Protocol):
    """A HIT accepted on a platform, with our page in it."""

    @property
    def assignment_id(self) -> str:
        """The platform's id of the assignment."""

    def open(self) -> Page:
        """Open our page; its status is one of TURNED_AWAY if the worker cannot work on this HIT."""

    def save(self, sheet: Page, fields: dict[str, str]) -> Page:
        """Send our form; the returned page has the platform's form."""

    def submit(self, saved: Page) -> bool:
        """Send the platform's form. False if it was refused: it has the answers already, or the time is over."""

    def give_back(self) -> None:
        """Return the HIT."""


@dataclass(frozen=True)
class Filled:
    """A task with the answers to submit, and other answers for a second tab."""

    task: Task
    sheet: Page
    fields: dict[str, str]
    others: dict[str, str]
    saves_first: bool  # who leaves does so after saving the answers with us


@dataclass(frozen=True)
class Ended:
    """Whether the platform took the answers, how many forms it refused, and under which name the turn is counted."""

    taken: bool
    refused: int = 0
    counted: str = ""


def drawn_conduct(profile: Profile, rng: np.random.Generator) -> str:
    """Draw a conduct by the profile's shares; "" means to submit once."""
    names, limits = [*profile.misconduct], np.cumsum([*profile.misconduct.values()])
    place = int(np.searchsorted(limits, rng.random(), side="right"))
    return names[place] if place < len(names) else ""


def _submit(filled: Filled) -> Ended:
    taken = filled.task.submit(filled.task.save(filled.sheet, filled.fields))
    return Ended(taken, refused=not taken)


def _give_back(filled: Filled) -> Ended:
    _leave(filled)
    filled.task.give_back()
    return Ended(False, counted="returned")


def _abandon(filled: Filled) -> Ended:
    _leave(filled)
    return Ended(False, counted="abandoned")


def _leave(filled: Filled) -> None:
    if filled.saves_first:
        filled.task.save(filled.sheet, filled.fields)


def _double_click(filled: Filled) -> Ended:
    """Send each form twice, the second time before the first is answered."""
    task = filled.task
    with ThreadPoolExecutor(2) as threads:
        saved = [*threads.map(lambda _: task.save(filled.sheet, filled.fields), range(2))]
        taken = [*threads.map(task.submit, saved)]
    return Ended(any(taken), refused=taken.count(False), counted="submitted twice")


def _submit_from_a_stale_tab(filled: Filled) -> Ended:
    """Submit, then submit other answers from a tab that was opened before."""
    stale = filled.task.open()
    ended = _submit(filled)
    saved = filled.task.save(stale, filled.others)
    # A sync may have come in between: then our page says that all is confirmed, and has no form.
    again = bool(saved.forms) and filled.task.submit(saved)
    return Ended(ended.taken or again, refused=ended.refused + (not again), counted="submitted twice")


CONDUCTS: Mapping[str, Callable[[Filled], Ended]] = {
    "": _submit,
    "returns": _give_back,
    "abandons": _abandon,
    "double_clicks": _double_click,
    "stale_tabs": _submit_from_a_stale_tab,
}
