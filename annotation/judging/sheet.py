"""What a judging page shows: a HIT's pairs with the worker's own answers so far, the levels, the reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import count
from math import ceil
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.judging.hit_pictures import sealed
from annotation.judging.links import address_of_pictures, copy_key, home_behind
from annotation.models import Assignment, Report
from annotation.people.consent import contact
from annotation.people.guides import guided_task
from annotation.work.answers import Answer, Places, drafted_answers, places_among
from annotation.work.leases import can_extend, longest_lease
from annotation.work.reports import LONGEST_NOTE, reported_problems
from annotation.work.written_captions import FEWEST_WORDS, LONGEST, has_words
from core import clock
from hits.models import Item, Round
from hits.packing.designs import Design
from hits.question import Shortcoming, WrongWay
from hits.task_types.task_type import Question


@dataclass(frozen=True)
class ItemContent:
    """A pair as its row says, by the key of its item; ``sentence`` is empty where an image is shown alone, ``language``
    (its BCP 47 tag) where it is not known."""

    item: int
    image: int | None
    sha256: str
    sentence: str
    language: str
    width: int | None
    height: int | None
    content: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class ShownPair:
    """One pair as it is shown. No key of a picture, caption or item, and nothing of its role, is here to leak."""

    place: int
    sentence: str
    language: str
    width: int | None
    height: int | None
    level: int | None = None
    shortcoming: str = ""
    wrong_way: str = ""
    saved: int = 0
    """When this answer was saved, in milliseconds since 1970; 0 if it was not."""
    seconds: int | None = None
    """How long it was shown and in use so far, if that is known."""
    text: str = ""
    """What was written, where the answer is a sentence."""
    reported: str = ""
    """What the worker said is wrong with the pair itself, in words."""
    picture: str = ""
    """The address of the picture, but for its size."""
    rankings: Sequence[Sequence[str]] = ()
    """The addresses of the pictures of each ranking that is compared."""
    answer: str = ""
    """The fields of its answer, where it has a screen of its own."""
    report: str = ""
    """The fields of a report of the pair, where it can be reported."""

    @property
    def is_large(self) -> bool:
        """Whether a sharp screen shows more of it than the usual size holds."""
        return max(self.width or 0, self.height or 0) > 800


@dataclass(frozen=True)
class Screen:
    """What is answered at once: a pair, or the pairs of one picture. ``name``: "Pair 3"."""

    number: int
    name: str
    pairs: Sequence[ShownPair]
    is_finished: bool

    @property
    def first(self) -> ShownPair:
        """The pair that gives the screen its place, and its picture."""
        return self.pairs[0]

    @property
    def saved(self) -> int:
        return max(pair.saved for pair in self.pairs)

    @property
    def rest(self) -> int | None:
        """The level of all its pairs, where none is ticked."""
        levels = {pair.level for pair in self.pairs}
        return self.first.level if len(levels) == 1 else None


LANGUAGE = "hit__round__pool__collection__language"


def shown_in(hit: int) -> list[ItemContent]:
    """Return the pairs of a HIT (by key), in one query."""
    columns = "pk", "image", "image__sha256", "caption__text", LANGUAGE, "image__width", "image__height", "content"
    return [ItemContent(*row) for row in Item.shown.filter(hit=hit).order_by().values_list(*columns)]


def sheet_of(
    shown: Sequence[ItemContent],
    places: Places,
    answers: Mapping[int, Answer],
    *,
    task: Question,
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
    can_skip = reported is not None
    pairs = []
    for place, item in sorted(places.items()):
        one = by_item[item]
        said = _said(answers.get(item))
        fields = {"wording": wording, "reasons": reasons, "can_skip": can_skip, "language": get_language()}
        pairs.append(
            ShownPair(
                place,
                one.sentence or "",
                one.language,
                one.width,
                one.height,
                *said,
                reported=(reported or {}).get(item, ""),
                picture=f"{pictures}{place}/?{sealed(one.image, one.sha256, until)}",
                rankings=_rankings(one, f"{pictures}{place}/?"),
                answer=_answer_fields(task, place, *said[:3], **fields) if task.group == 1 and not task.writes else "",
                report=_report_fields(place, get_language()) if reported is not None and item not in reported else "",
            )
        )
    what = capfirst(_(task.screen[0]))
    screens = [
        Screen(number, f"{what} {number}", together, _is_finished(together, task, reasons))
        for number, start in enumerate(range(0, len(pairs), task.group), 1)
        if (together := pairs[start : start + task.group])
    ]
    return {
        "task": task,
        "pairs": pairs,
        "screens": screens,
        "unfinished": [screen for screen in screens if not screen.is_finished] if problem else [],
        "problem": problem,
        **task.guide(wording),
        "shortcomings": reasons,
        "can_skip": can_skip,
        "sentence_limits": {"words": FEWEST_WORDS, "characters": LONGEST},
    }


def _rankings(shown: ItemContent, picture: str) -> list[list[str]]:
    """Return the addresses of the ranked pictures, numbered through all rankings."""
    numbers = count()
    rankings = shown.content["rankings"] if shown.content else []
    return [[f"{picture}n={next(numbers)}&" for _ in ranking] for ranking in rankings]


def _is_finished(pairs: Sequence[ShownPair], task: Question, reasons: bool) -> bool:
    for pair in pairs:
        if pair.level is None or (pair.text and not has_words(pair.text)):
            return False
        if reasons and pair.level in task.asks:
            is_wrong_way = pair.shortcoming == Shortcoming.WRONG_WAY
            if not (pair.wrong_way if is_wrong_way else pair.shortcoming):
                return False
    return True


@lru_cache(maxsize=2_000)
def _answer_fields(
    task: Question,
    place: int,
    level: int | None,
    shortcoming: str,
    wrong_way: str,
    *,
    wording: int,
    reasons: bool,
    can_skip: bool,
    language: str | None,
) -> str:
    """Return the fields of one answer in the language that is spoken now. They are most of a page, and most of them are
    the same on every page."""
    words = task.wordings[wording]
    pair = ShownPair(place, "", "", None, None, level, shortcoming, wrong_way)
    context: dict[str, Any] = {"place": place, "pair": pair, "levels": task.choices(wording), "why": words.why}
    context["wrong_ways"] = WrongWay.choices
    context["no_picture"] = task.no_picture if can_skip else ""
    context["shortcomings"] = [*words.shortcomings.items()] if reasons else []
    return render_to_string("judging/_answer.html", context)


@lru_cache
def _report_fields(place: int, language: str | None) -> str:
    context = {"place": place, "problems": Report.Problem.choices, "longest_note": LONGEST_NOTE}
    return render_to_string("judging/_report.html", context)


def terms_of(round: Round) -> dict[str, Any]:
    """Return what a worker should know beforehand: the question, pay, time, answers and contact. ``minutes`` that a HIT
    takes are those measured or stated for the round, or else what such HITs usually take; ``hourly`` is what an hour of
    them pays in US dollars."""
    task = guided_task(round)
    screens = task.screens(Design(**round.design).shown)
    seconds = round.expected_seconds
    reward = round.reward
    fastest, slowest = task.usual_minutes
    about = _("about {}")
    usual_pay = f"${reward * 60 / slowest:.2f}–{reward * 60 / fastest:.2f}"
    return {
        "task": task,
        "amount": f"{screens} {_(task.screen[1])}",
        "lead": _(task.lead).format(n=screens),
        "minutes": about.format(max(1, ceil(seconds / 60))) if seconds else f"{fastest}–{slowest}",
        "hourly": about.format(f"${reward * 3600 / seconds:.2f}") if seconds else usual_pay,
        **task.guide(round.wording),
        **contact(round),
    }


def milliseconds(time: datetime | None) -> int:
    """Return a time as scripts count it; 0 for none."""
    return int(time.timestamp() * 1000) if time else 0


def _said(answer: Answer | None) -> tuple[int | None, str, str, int, int | None, str]:
    if answer is None:
        return None, "", "", 0, None, ""
    saved = milliseconds(answer.saved_at)
    return answer.level, answer.shortcoming, answer.wrong_way, saved, answer.seconds, answer.text


def hit_page(request: HttpRequest, assignment: Assignment, *, address: str, problem: str = "") -> HttpResponse:
    """Show the pairs and what was answered so far. Its form goes to ``address``; ``problem`` says why a submission was
    not taken."""
    round = assignment.hit.round
    task = guided_task(round, at=assignment.leased_at)
    rows = shown_in(assignment.hit_id)
    shown = sheet_of(
        rows,
        places_among(assignment, [row.item for row in rows]),
        drafted_answers(assignment),
        task=task,
        wording=round.wording,
        reasons=round.reasons,
        problem=problem,
        pictures=address_of_pictures(assignment),
        reported=reported_problems(assignment) if task.has_picture else None,
        until=longest_lease(assignment),
    )
    # The name of the copy of the answers that the browser keeps, and our time for it.
    copy = {"copy": copy_key(assignment), "now": milliseconds(clock.now())}
    context = shown | {"round": round, "address": address, "can_report": task.has_picture, **copy}
    if assignment.is_outside:
        context |= contact(round)
    else:
        context |= {
            "home": home_behind(assignment),
            "deadline": assignment.deadline,
            "can_extend": can_extend(assignment),
            "lease_minutes": settings.LEASE_MINUTES,
            "seconds_left": max(0, int((assignment.deadline - clock.now()).total_seconds())),
        }
    return render(request, "judging/task.html", context, status=422 if problem else 200)
