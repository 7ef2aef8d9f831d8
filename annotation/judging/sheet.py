"""What a judging page shows: a HIT's pairs with the worker's own answers so far, the levels, the reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils import timezone

from annotation.answers import ASKS_REASONS, Answer, Places
from annotation.consent import contact
from annotation.judging.hit_pictures import sealed
from annotation.models import Report, TestItem
from annotation.reports import LONGEST_NOTE, Complaint
from core.errors import CounterpartError, some_of
from core.text import counted
from hits.designs import Design
from hits.models import Item, Round
from hits.question import Level, Shortcoming, WrongWay
from hits.wording import WORDINGS, Wording

Items = QuerySet[Item] | QuerySet[TestItem]


@dataclass(frozen=True)
class Shown:
    """A pair as its row says, by the key of its item."""

    item: int
    image: int
    sha256: str
    sentence: str
    width: int | None
    height: int | None


@dataclass(frozen=True)
class Pair:
    """One pair as it is shown. No key of a picture, caption or item, and nothing of its role, is here to leak."""

    place: int
    sentence: str
    width: int | None
    height: int | None
    level: int | None = None
    shortcoming: str = ""
    wrong_way: str = ""
    saved: int = 0
    """When this answer was saved, in milliseconds since 1970; 0 if it was not."""
    reported: str = ""
    """What the worker said is wrong with the pair itself, in words."""
    picture: str = ""
    """The address of the picture, but for its size."""
    answer: str = ""
    """The fields of its answer."""
    report: str = ""
    """The fields of a report of the pair, where it can be reported."""

    @property
    def is_large(self) -> bool:
        """Whether a sharp screen shows more of it than the usual size holds."""
        return max(self.width or 0, self.height or 0) > 800

    def is_finished(self, *, reasons: bool) -> bool:
        if not (reasons and self.level in ASKS_REASONS):
            return self.level is not None
        return bool(self.wrong_way) if self.shortcoming == Shortcoming.WRONG_WAY else bool(self.shortcoming)


def shown_of(items: Items) -> list[Shown]:
    """Return the pairs of a HIT or test, in one query."""
    columns = ("pk", "image", "image__sha256", "caption__text", "image__width", "image__height")
    return [Shown(*row) for row in items.order_by().values_list(*columns)]


USUAL_MINUTES = (5, 10)
"""What a HIT takes where nobody has measured or stated it."""

SAMPLE = Pair(place=0, sentence="", width=None, height=None, level=Level.PARTIALLY_YES)
"""The answer shown under the drawn picture of a preview."""


def sheet_of(
    shown: Sequence[Shown],
    places: Places,
    answers: Mapping[int, Answer],
    *,
    wording: int,
    reasons: bool,
    problem: str,
    pictures: str,
    reported: Mapping[int, str] | None = None,
    until: datetime | None = None,
) -> dict[str, Any]:
    """Return what every template of a judging page needs.

    ``answers`` and ``reported`` (what the worker said is wrong with the pair itself; None where nothing can be
    reported) are by item. ``problem`` says why a submission was not taken. The addresses of the pictures begin with
    ``pictures``; until ``until`` they open without the database.
    """
    by_item = {one.item: one for one in shown}
    pairs = []
    for place, item in sorted(places.items()):
        one, said = by_item[item], _said(answers.get(item))
        pairs.append(
            Pair(
                place,
                one.sentence,
                one.width,
                one.height,
                *said,
                reported=(reported or {}).get(item, ""),
                picture=f"{pictures}{place}/?{sealed(one.image, one.sha256, until)}",
                answer=_answer_fields(
                    place, *said[:3], wording=wording, reasons=reasons, can_skip=reported is not None
                ),
                report=_report_fields(place) if reported is not None and item not in reported else "",
            )
        )
    words = WORDINGS[wording]
    return {
        "pairs": pairs,
        "unfinished": [pair for pair in pairs if not pair.is_finished(reasons=reasons)] if problem else [],
        "problem": problem,
        "levels": _levels(words),
        "examples": words.examples,
        "shortcomings": reasons,
    }


@lru_cache(maxsize=2_000)
def _answer_fields(
    place: int, level: int | None, shortcoming: str, wrong_way: str, *, wording: int, reasons: bool, can_skip: bool
) -> str:
    """Return the fields of one answer. They are most of a page, and most of them are the same on every page."""
    words, pair = WORDINGS[wording], Pair(place, "", None, None, level, shortcoming, wrong_way)
    context = {"place": place, "pair": pair, "levels": _levels(words), "why": words.why, "wrong_ways": WrongWay.choices}
    context["can_skip"] = can_skip  # say that the picture does not load
    context["shortcomings"] = [*words.shortcomings.items()] if reasons else []
    return render_to_string("judging/_answer.html", context)


@lru_cache
def _report_fields(place: int) -> str:
    context = {"place": place, "problems": Report.Problem.choices, "longest_note": LONGEST_NOTE}
    return render_to_string("judging/_report.html", context)


def terms_of(round: Round) -> dict[str, Any]:
    """Return what a worker should know beforehand: pay, time, levels and contact."""
    wording = WORDINGS[round.wording]
    words = {"levels": _levels(wording), "examples": wording.examples, **contact()}
    return {"pairs": Design(**round.design).size, "minutes": _minutes(round), "hourly": _hourly(round), **words}


def _levels(wording: Wording) -> list[dict[str, Any]]:
    return [
        {"value": level.value, "label": level.label, "asks": level in ASKS_REASONS, "text": text}
        for level, text in wording.levels.items()
    ]


def _minutes(round: Round) -> str:
    """How long a HIT takes: as measured or stated for this round, or else what such HITs usually take."""
    fastest, slowest = USUAL_MINUTES
    return f"about {max(1, -(-round.expected_seconds // 60))}" if round.expected_seconds else f"{fastest}–{slowest}"


def _hourly(round: Round) -> str:
    """What an hour of such HITs pays in US dollars, for the time that the page states."""
    if round.expected_seconds:
        return f"about ${round.reward * 3600 / round.expected_seconds:.2f}"
    fastest, slowest = USUAL_MINUTES
    return f"${round.reward * 60 / slowest:.2f}–{round.reward * 60 / fastest:.2f}"


def milliseconds(time: datetime | None) -> int:
    """Return a time as scripts count it; 0 for none."""
    return int(time.timestamp() * 1000) if time else 0


def _said(answer: Answer | None) -> tuple[int | None, str, str, int]:
    if answer is None:
        return None, "", "", 0
    return answer.level, answer.shortcoming, answer.wrong_way, milliseconds(answer.saved_at)


PARTS = ("level", "shortcoming", "wrong_way")


@dataclass(frozen=True)
class DraftChange:
    """One pair's answer as it now stands; ``answer`` is None where it was undone."""

    item_id: int
    answer: Answer | None


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


def parse_reports(post: QueryDict, places: Places) -> list[Complaint]:
    """Read the fields ``problem-7`` and ``note-7`` of every pair that has a problem."""
    return [
        Complaint(item_id, problem, post.get(f"note-{place}", ""))
        for place, item_id in places.items()
        if (problem := post.get(f"problem-{place}", ""))
    ]


def parse_active_seconds(post: QueryDict, *, since: datetime, until: datetime) -> int:
    """Return the seconds of work that the page counted, at most those from ``since`` to now or ``until``; all those
    where it did not count."""
    elapsed = max(0, int((min(timezone.now(), until) - since).total_seconds()))  # clocks may disagree
    counted = post.get("active_seconds", "")
    return min(int(counted), elapsed) if counted.isascii() and counted.isdigit() and len(counted) < 9 else elapsed


def parse_number(text: str, what: str) -> int:
    """Read a number of at most five digits. Raises CounterpartError that says what it was expected for."""
    if text.isascii() and text.isdigit() and len(text) < 6:
        return int(text)
    raise CounterpartError(f"A number was expected for {what}; reload the page and choose again.")


def _refuse_odd_fields(post: QueryDict, places: Places) -> None:
    if doubled := [name for name, values in post.lists() if len(values) > 1]:
        raise CounterpartError(
            f"{counted(len(doubled), 'field was', 'fields were')} sent twice: {some_of(doubled)}. Reload the page."
        )
    known = {f"{part}-{place}" for part in PARTS for place in places}
    asked = [name for name in post if name.startswith(tuple(f"{part}-" for part in PARTS))]
    if foreign := [name for name in asked if name not in known]:
        raise CounterpartError(
            f"{counted(len(foreign), 'answer is', 'answers are')} to pairs that this HIT lacks; reload the page."
        )


def _answer(post: QueryDict, place: int, item_id: int) -> Answer:
    """Read one pair. Reasons left over from a level that was changed since are dropped."""
    level = parse_number(post.get(f"level-{place}", ""), f"the level of pair {place}")
    shortcoming = post.get(f"shortcoming-{place}", "") if level in ASKS_REASONS else ""
    wrong_way = post.get(f"wrong_way-{place}", "") if shortcoming == Shortcoming.WRONG_WAY else ""
    return Answer(item_id, level, shortcoming, wrong_way)
