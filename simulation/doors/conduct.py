"""How workers end a turn on a platform: they submit, submit twice, return the HIT or abandon it."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from simulation.http_browser import Browser, Page
from simulation.profiles import Profile

TURNED_AWAY = (403, 409, 410)  # statuses of our page for workers who cannot work on this HIT


def is_sheet(page: Page) -> bool:
    """Whether it is our page with the pairs to judge."""
    return any("active_seconds" in form.fields for form in page.forms)


def agreed(browser: Browser, page: Page) -> Page:
    """Return the page behind a consent sheet, by agreeing to it; any other page as it is."""
    form = next((form for form in page.forms if "sheet" in form.fields), None)
    return page if form is None else browser.press(form, "consent", "yes", refusals=TURNED_AWAY)


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

    def submit_without_code(self) -> bool:
        """End the turn on the platform without what our last page shows for that."""

    def give_back(self) -> None:
        """Return the HIT."""

    def leave(self, page: Page) -> None:
        """End a turn whose page has nothing to judge."""

    def elsewhere(self) -> Self:
        """Return the task on another device of the same worker."""


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
    names = [*profile.misconduct]
    limits = np.cumsum([*profile.misconduct.values()])
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
    return _submit_again(filled, stale, _submit(filled))


def _change_the_device(filled: Filled) -> Ended:
    """Submit on a second device, then submit other answers on the first one."""
    other = filled.task.elsewhere()
    ended = _submit(replace(filled, task=other, sheet=other.open()))
    return replace(_submit_again(filled, filled.sheet, ended), counted="on two devices")


def _submit_again(filled: Filled, stale: Page, ended: Ended) -> Ended:
    saved = filled.task.save(stale, filled.others)
    # A sync may have come in between: then our page says that all is confirmed, and has no form.
    again = bool(saved.forms) and filled.task.submit(saved)
    return Ended(ended.taken or again, refused=ended.refused + (not again), counted="submitted twice")


def _lose_the_code(filled: Filled) -> Ended:
    filled.task.save(filled.sheet, filled.fields)
    taken = filled.task.submit_without_code()
    return Ended(taken, refused=not taken, counted="without code")


CONDUCTS: Mapping[str, Callable[[Filled], Ended]] = {
    "": _submit,
    "returns": _give_back,
    "abandons": _abandon,
    "double_clicks": _double_click,
    "stale_tabs": _submit_from_a_stale_tab,
    "lost_codes": _lose_the_code,
    "second_devices": _change_the_device,
}
