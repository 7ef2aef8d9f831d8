"""What a judging page shows: a HIT's pairs with the worker's own answers so far, the levels, the reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from math import ceil
from typing import Any

from django.conf import settings
from django.db.models import FilteredRelation, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.judging.hit_pictures import sealed
from annotation.judging.links import address_of_pictures, copy_key, home_behind
from annotation.judging.screens import Screen, ShownPair, drawn, drawn_help
from annotation.models import Assignment, Report
from annotation.people.consent import contact
from annotation.people.guides import guided_task
from annotation.work.answers import Answer, Places, drafted_answers, places_among
from annotation.work.leases import can_extend, longest_lease
from annotation.work.written_captions import has_words
from core import clock
from core.database.fixed_queries import FixedQuery
from hits.models import Item, Round
from hits.packing.designs import Design
from hits.question import Shortcoming
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
    problem: str | None = None
    """What the worker has reported of it."""


USUAL = 800  # pixels of a side that a picture is first shown with

LANGUAGE = "hit__round__pool__collection__language"


def shown_in(hit: int, *, worker: int = 0) -> list[ItemContent]:
    """Return the pairs of a HIT (by key), with what the worker has reported of them, in one query."""
    return [ItemContent(*row) for row in _shown(hit, worker)]


@FixedQuery
def _shown(hit: int, worker: int) -> QuerySet[Item, tuple[Any, ...]]:
    theirs = FilteredRelation("reports", condition=Q(reports__worker=worker))
    columns = "pk", "image", "image__sha256", "caption__text", LANGUAGE, "image__width", "image__height", "content"
    return Item.shown.filter(hit=hit).order_by().annotate(theirs=theirs).values_list(*columns, "theirs__problem")


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
    can_skip: bool = False,
    until: datetime | None = None,
) -> dict[str, Any]:
    """Return what every template of a judging page needs.

    ``answers`` are by item. ``problem`` says why a submission was not taken. The addresses of the pictures begin with
    ``pictures``; until ``until`` they open without the database. ``can_skip``: whether a pair can be reported, and
    skipped where its picture does not load.
    """
    by_item = {one.item: one for one in shown}
    pairs = [
        _pair(place, by_item[item], answers.get(item), pictures=pictures, can_skip=can_skip, until=until)
        for place, item in sorted(places.items())
    ]
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
        "drawn": drawn(screens, task, wording=wording, reasons=reasons, can_skip=can_skip),
        "unfinished": [screen for screen in screens if not screen.is_finished] if problem else [],
        "problem": problem,
        **task.guide(wording),
        "help": drawn_help(task, wording, get_language(), reasons=reasons, can_skip=can_skip),
    }


def _pair(
    place: int, one: ItemContent, answer: Answer | None, *, pictures: str, can_skip: bool, until: datetime | None
) -> ShownPair:
    return ShownPair(
        place,
        one.sentence or "",
        one.language,
        one.width,
        one.height,
        *_said(answer),
        reported=Report.Problem(one.problem).label if can_skip and one.problem else "",
        picture=f"{pictures}{place}/?{sealed(one.image, one.sha256, until)}",
        rankings=_rankings(one),
        is_large=max(one.width or 0, one.height or 0) > USUAL,
    )


def _rankings(shown: ItemContent) -> tuple[tuple[int, ...], ...]:
    """Number the ranked pictures, through all rankings."""
    numbers = count()
    rankings = shown.content["rankings"] if shown.content else []
    return tuple(tuple(next(numbers) for _ in ranking) for ranking in rankings)


def _is_finished(pairs: Sequence[ShownPair], task: Question, reasons: bool) -> bool:
    for pair in pairs:
        if pair.level is None or (pair.text and not has_words(pair.text)):
            return False
        if reasons and pair.level in task.asks:
            is_wrong_way = pair.shortcoming == Shortcoming.WRONG_WAY
            if not (pair.wrong_way if is_wrong_way else pair.shortcoming):
                return False
    return True


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
    rows = shown_in(assignment.hit_id, worker=assignment.worker_id)
    shown = sheet_of(
        rows,
        places_among(assignment, [row.item for row in rows]),
        drafted_answers(assignment),
        task=task,
        wording=round.wording,
        reasons=round.reasons,
        problem=problem,
        pictures=address_of_pictures(assignment),
        can_skip=task.has_picture,
        until=longest_lease(assignment),
    )
    # The name of the copy of the answers that the browser keeps, and our time for it.
    copy = {"copy": copy_key(assignment), "now": milliseconds(clock.now())}
    context = shown | {"round": round, "address": address, **copy}
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
