"""One answer as every channel brings it, and what makes it well formed."""

from dataclasses import dataclass

from annotation.models import Level, Shortcoming, WrongWay
from journal.errors import CounterpartError

ASKS_REASONS = (Level.PARTIALLY_YES, Level.MOSTLY_NO)


@dataclass(frozen=True)
class Answer:
    """What a worker says of one item: a level 1-4 and, at levels 2 and 3 of a round that asks, the reasons."""

    item_id: int
    level: int
    shortcoming: str = ""
    wrong_way: str = ""


def check_answer(answer: Answer, *, place: int, reasons: bool, complete: bool) -> None:
    """Raise CounterpartError unless the answer is well formed; ``complete`` also wants the reasons asked for."""
    if answer.level not in Level.values:
        raise CounterpartError(f"Pair {place} has level {answer.level}; choose one of the four levels.")
    asked = reasons and answer.level in ASKS_REASONS
    if (answer.shortcoming and not asked) or answer.shortcoming not in ("", *Shortcoming.values):
        raise CounterpartError(f"Pair {place} has a reason that was not asked for; choose its level again.")
    explains = asked and answer.shortcoming == Shortcoming.WRONG_WAY
    if (answer.wrong_way and not explains) or answer.wrong_way not in ("", *WrongWay.values):
        raise CounterpartError(f"Pair {place} says what is wrong where that was not asked; choose its reason again.")
    if complete and asked and not answer.shortcoming:
        raise CounterpartError(f"Pair {place} lacks its reason; choose why the sentence is not perfect.")
    if complete and explains and not answer.wrong_way:
        raise CounterpartError(f"Pair {place} lacks a detail; choose what is described in a wrong way.")
