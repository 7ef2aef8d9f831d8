"""A whole answer set in one short form field, as it travels through a platform beside our own copy.

One word for each pair, in the order of their places, with points between: the level's digit and, where reasons were
given, the letters that the judging page shows beside them. ``1.2a.3ce.4`` answers four pairs: the second leaves
something out (a), the third describes (c) the quantity (e) in a wrong way.
"""

import re
from collections.abc import Mapping, Sequence

from annotation.answers import Answer
from core.errors import CounterpartError
from hits.question import Shortcoming, WrongWay

# The keys of static/judging/keys.js: four shortcomings, then ten wrong ways.
REASONS: dict[str, str] = dict(zip("abcdefghijklmn", [*Shortcoming.values, *WrongWay.values], strict=True))
LETTERS = {reason: letter for letter, reason in REASONS.items()}
WORD = re.compile(r"([1-4])([a-d]?)([e-n]?)")

FIELD = "answers"


def encode(answers: Sequence[Answer], places: Mapping[int, int]) -> str:
    """Write the answers to all items of a HIT; ``places`` gives the item at each place."""
    by_item = {answer.item_id: answer for answer in answers}
    return ".".join(_word(by_item[places[place]]) for place in sorted(places))


def decode(text: str, places: Mapping[int, int]) -> list[Answer]:
    """Read what ``encode`` wrote for these places, each answer with its item.

    Raises CounterpartError for another number of answers than there are places, and for a word that is none.
    """
    words = text.split(".")
    if len(words) != len(places):
        raise CounterpartError(f"There are {len(words)} answers for {len(places)} pairs: {text[:80]!r}.")
    return [_answer(word, place, places[place]) for word, place in zip(words, sorted(places), strict=True)]


def _word(answer: Answer) -> str:
    return f"{answer.level}{LETTERS.get(answer.shortcoming, '')}{LETTERS.get(answer.wrong_way, '')}"


def _answer(word: str, place: int, item_id: int) -> Answer:
    found = WORD.fullmatch(word)
    if found is None:
        raise CounterpartError(f"The answer to pair {place} is {word[:20]!r}; a level and its reasons were expected.")
    level, shortcoming, wrong_way = found.groups()
    return Answer(item_id, int(level), REASONS.get(shortcoming, ""), REASONS.get(wrong_way, ""))
