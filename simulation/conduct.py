"""What people do with a HIT on a platform once their answers are filled in: hand it in, twice, or not at all."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from simulation.browser import Page
from simulation.emulated_site import Task
from simulation.profiles import Profile


@dataclass(frozen=True)
class Filled:
    """A HIT in somebody's hands: our page in its frame, the fields they fill in, and others that they would regret."""

    task: Task
    sheet: Page
    fields: dict[str, str]
    others: dict[str, str]
    late: bool  # whether they go as far as saving before they leave


@dataclass(frozen=True)
class Ended:
    """What became of it: whether the platform took the answers, how many forms it refused, and how it is counted."""

    taken: bool
    refused: int = 0
    counted: str = ""


def drawn_conduct(profile: Profile, rng: np.random.Generator) -> str:
    """Draw what somebody does in one turn; "" for handing it in as people are asked to."""
    names, limits = [*profile.misconduct], np.cumsum([*profile.misconduct.values()])
    place = int(np.searchsorted(limits, rng.random(), side="right"))
    return names[place] if place < len(names) else ""


def behave(conduct: str, filled: Filled) -> Ended:
    """End the turn so."""
    return CONDUCTS[conduct](filled)


def _hand_in(filled: Filled) -> Ended:
    taken = filled.task.hand_in(filled.task.save(filled.sheet, filled.fields))
    return Ended(taken, refused=not taken)


def _give_back(filled: Filled) -> Ended:
    _leave(filled)
    filled.task.give_back()
    return Ended(False, counted="returned")


def _abandon(filled: Filled) -> Ended:
    _leave(filled)
    return Ended(False, counted="abandoned")


def _leave(filled: Filled) -> None:
    if filled.late:
        filled.task.save(filled.sheet, filled.fields)


def _double_click(filled: Filled) -> Ended:
    """Send each form twice, the second on its way before the first is answered."""
    task = filled.task
    with ThreadPoolExecutor(2) as hands:
        saved = [*hands.map(lambda _: task.save(filled.sheet, filled.fields), range(2))]
        taken = [*hands.map(task.hand_in, saved)]
    return Ended(any(taken), refused=taken.count(False), counted="submitted twice")


def _send_from_a_stale_tab(filled: Filled) -> Ended:
    """Hand it in, and then other answers from a tab that was opened before."""
    stale = filled.task.open()
    ended = _hand_in(filled)
    saved = filled.task.save(stale, filled.others)
    # A sync may have come in between: then our page says that all is confirmed, and has nothing left to send.
    again = bool(saved.forms) and filled.task.hand_in(saved)
    return Ended(ended.taken or again, refused=ended.refused + (not again), counted="submitted twice")


CONDUCTS: Mapping[str, Callable[[Filled], Ended]] = {
    "": _hand_in,
    "returns": _give_back,
    "abandons": _abandon,
    "double_clicks": _double_click,
    "stale_tabs": _send_from_a_stale_tab,
}
