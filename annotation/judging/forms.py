"""Type what a worker's browser sends: fields named by a pair's place become answers, anything odd is refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone

from annotation.answers import ASKS_REASONS, Answer
from annotation.models import TestItem
from core.errors import CounterpartError, some_of
from hits.models import Item
from hits.question import Shortcoming

PARTS = ("level", "shortcoming", "wrong_way")

Places = Mapping[int, int]
"""Place in the HIT (from 1) → item key."""


@dataclass(frozen=True)
class DraftChange:
    """One pair's answer as it now stands; ``answer`` is None where it was undone."""

    item_id: int
    answer: Answer | None


def places_of(items: QuerySet[Item] | QuerySet[TestItem]) -> Places:
    return dict(items.values_list("place", "pk"))


def parse_answers(post: QueryDict, places: Places) -> list[Answer]:
    """Read the fields ``level-7``, ``shortcoming-7`` and ``wrong_way-7`` of every pair that has a level.

    Raises CounterpartError where a field is sent twice, is no number, or is for a pair that the HIT lacks.
    """
    _refuse_odd_fields(post, places)
    return [_answer(post, place, item_id) for place, item_id in places.items() if post.get(f"level-{place}")]


def parse_draft(post: QueryDict, places: Places) -> DraftChange:
    """Read ``place`` and the fields of that one pair. Raises CounterpartError as ``parse_answers`` does."""
    place = parse_number(post.get("place", ""), "the pair")
    if place not in places:
        raise CounterpartError(f"This HIT has no pair {place}; reload the page.")
    answers = parse_answers(post, {place: places[place]})
    return DraftChange(places[place], answers[0] if answers else None)


def parse_active_seconds(post: QueryDict, *, since: datetime) -> int:
    """Return the seconds of work that the page counted, or all those ``since`` it began where it did not count."""
    elapsed = max(0, int((timezone.now() - since).total_seconds()))  # clocks of two machines may disagree
    counted = post.get("active_seconds", "")
    return min(int(counted), elapsed) if counted.isascii() and counted.isdigit() and len(counted) < 9 else elapsed


def parse_number(text: str, what: str) -> int:
    """Read a number of at most five digits. Raises CounterpartError that says what it was expected for."""
    if text.isascii() and text.isdigit() and len(text) < 6:
        return int(text)
    raise CounterpartError(f"A number was expected for {what}; reload the page and choose again.")


def _refuse_odd_fields(post: QueryDict, places: Places) -> None:
    if doubled := [name for name, values in post.lists() if len(values) > 1]:
        raise CounterpartError(f"{len(doubled)} fields were sent twice: {some_of(doubled)}. Reload the page.")
    known = {f"{part}-{place}" for part in PARTS for place in places}
    asked = [name for name in post if name.startswith(tuple(f"{part}-" for part in PARTS))]
    if foreign := [name for name in asked if name not in known]:
        raise CounterpartError(f"{len(foreign)} answers are to pairs that this HIT lacks; reload the page.")


def _answer(post: QueryDict, place: int, item_id: int) -> Answer:
    """Read one pair. Reasons left over from a level that was changed since are dropped."""
    level = parse_number(post.get(f"level-{place}", ""), f"the level of pair {place}")
    shortcoming = post.get(f"shortcoming-{place}", "") if level in ASKS_REASONS else ""
    wrong_way = post.get(f"wrong_way-{place}", "") if shortcoming == Shortcoming.WRONG_WAY else ""
    return Answer(item_id, level, shortcoming, wrong_way)
