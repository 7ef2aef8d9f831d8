"""Practice before the first HIT: the pairs of a test, judged as in a HIT. After each answer and at the end it says
which answers are right, and why. Nothing is stored."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.judging.hit_pictures import picture_response
from annotation.judging.links import (
    PRACTICE_PICTURES_SALT,
    Home,
    Trouble,
    address_of_practice_pictures,
    home_of,
    read_worker_token,
)
from annotation.judging.qualification_sheet import items_page, places_in, question_of
from annotation.judging.sheet_answers import parse_answers, parse_number
from annotation.models import QualificationTest, TestItem
from annotation.people.admission import admission_of
from annotation.people.consent import has_agreed
from annotation.people.qualification_questions import POSITIVE
from annotation.work.answers import Answer
from core.errors import CounterpartError, some_of
from hits.question import RIGHT_LEVELS
from hits.task_types.task_type import Question


@dataclass(frozen=True)
class PracticeFeedback:
    """The worker's answer to an item: its ``level``, one of those of ``answers``, all possible answers with their
    meanings (``Question.choices``)."""

    item: TestItem
    level: int
    answers: list[dict[str, Any]]

    @property
    def is_right(self) -> bool:
        return self.level in RIGHT_LEVELS[self.item.polarity]

    @property
    def said(self) -> dict[str, Any]:
        return next(answer for answer in self.answers if answer["value"] == self.level)

    @property
    def right(self) -> list[dict[str, Any]]:
        """The answers that are right, from the best to the worst."""
        return [answer for answer in self.answers if answer["value"] in RIGHT_LEVELS[self.item.polarity]]

    @property
    def best(self) -> dict[str, Any] | None:
        """The right answer that fits best, where staff have chosen it."""
        return next((answer for answer in self.right if answer["value"] == self.item.best_level), None)

    @property
    def why(self) -> str:
        """Why these are right, as the item was drawn or marked; and why the best is, if it is said."""
        is_positive = self.item.polarity == POSITIVE
        if self.item.image_id is None:
            source = "The sentence is written correctly." if is_positive else "The sentence has a mistake in writing."
        else:
            source = f"The sentence was written for {'this' if is_positive else 'another'} picture."
        return f"{source} {self.item.reason}".strip()


@require_http_methods(["GET", "HEAD", "POST"])
def practice(request: HttpRequest, token: str) -> HttpResponse:
    """Show the pairs; sending the answers shows which were right."""
    home = home_of(token)
    test = _practice_of(home)
    answers: dict[int, Answer] = {}
    pictures = address_of_practice_pictures(home)
    page = partial(items_page, request, home, test, template="judging/practice.html", pictures=pictures)
    if request.method != "POST":
        return page(answers) if has_agreed(home.worker, home.round) else redirect("judging:home", token=token)
    asked = question_of(test, home.round)
    try:
        answers = {answer.item_id: answer for answer in parse_answers(request.POST, places_in(test), asked["task"])}
        feedback = _feedback(test, answers, **asked)
    except CounterpartError as error:
        return page(answers, problem=str(error))
    context = {"home": home, "feedback": feedback, "right": sum(one.is_right for one in feedback)}
    context |= {"language": test.collection.language, "pictures": pictures, "has_pictures": asked["task"].has_picture}
    context |= asked["task"].guide(asked["wording"])
    return render(request, "judging/practice_result.html", context)


@require_safe
def why(request: HttpRequest, token: str, place: int) -> HttpResponse:
    """Whether ``?level=`` is a right answer to the pair at this place, and why: a part of the page."""
    home = home_of(token)
    test = _practice_of(home)
    asked = question_of(test, home.round)
    try:
        level = parse_number(request.GET.get("level", ""), "the level")
        one = _feedback_on(get_object_or_404(test.items.select_related("caption"), place=place), level, **asked)
    except CounterpartError as error:
        return HttpResponse(str(error), status=422, content_type="text/plain")
    return render(request, "judging/_why.html", {"one": one})


@require_safe
def picture(request: HttpRequest, token: str, place: int) -> HttpResponseBase:
    """Send one picture of the practice."""
    home = None
    with suppress(BadSignature):
        home = read_worker_token(token, salt=PRACTICE_PICTURES_SALT)
    test = admission_of(home.round).practice if home else None
    item = test.items.select_related("image").filter(place=place).first() if test else None
    return picture_response(item, size=request.GET.get("size", ""))


def _practice_of(home: Home) -> QualificationTest:
    test = admission_of(home.round).practice
    if test is None or home.round.state == "draft":
        raise Trouble("Practice not found", "This round has no practice.", status=404, home=home.token)
    return test


def _feedback(
    test: QualificationTest, answers: Mapping[int, Answer], task: Question, wording: int, **_: object
) -> list[PracticeFeedback]:
    """Raises CounterpartError unless every pair has one of the task's answers."""
    items = test.items.select_related("caption")
    if missing := [item.place for item in items if item.pk not in answers]:
        raise CounterpartError(f"No answer yet for pair {some_of(missing, at_most=18)}. Answer and send again.")
    return [_feedback_on(item, answers[item.pk].level, task, wording) for item in items]


def _feedback_on(item: TestItem, level: int, task: Question, wording: int, **_: object) -> PracticeFeedback:
    if level not in task.labels:
        raise CounterpartError("An answer has an invalid level; reload the page.")
    return PracticeFeedback(item, level, task.choices(wording))
