"""Practice before the first HIT: the pairs of a test, judged as in a HIT, with the right answers shown afterwards.
Nothing of it is stored."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
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
from annotation.judging.sheet import question_of, sheet_of, shown_of
from annotation.judging.sheet_answers import parse_answers
from annotation.models import QualificationTest
from annotation.people.admission import admission_of
from annotation.work.answers import Answer
from core.errors import CounterpartError, some_of
from hits.question import RIGHT_LEVELS
from hits.task_types.task_type import Question


@dataclass(frozen=True)
class Feedback:
    """What the worker said of a pair, and the answers that are right, in words."""

    place: int
    sentence: str
    said: str
    right: Sequence[str]

    @property
    def is_right(self) -> bool:
        return self.said in self.right


@require_http_methods(["GET", "HEAD", "POST"])
def practice(request: HttpRequest, token: str) -> HttpResponse:
    """The pairs; sending the answers shows which were right."""
    home = home_of(token)
    test = _practice_of(home)
    if request.method != "POST":
        return _sheet(request, home, test)
    answers: dict[int, Answer] = {}
    asked = question_of(test, home.round)
    try:
        answers = {answer.item_id: answer for answer in parse_answers(request.POST, _places_of(test), asked["task"])}
        feedback = _feedback(test, answers, asked["task"])
    except CounterpartError as error:
        return _sheet(request, home, test, answers, problem=str(error))
    context = {"home": home, "feedback": feedback, "right": sum(one.is_right for one in feedback)}
    context |= {"pictures": address_of_practice_pictures(home), "has_pictures": asked["task"].has_picture}
    context |= asked["task"].guide(asked["wording"])
    return render(request, "judging/practice_result.html", context)


@require_safe
def picture(request: HttpRequest, token: str, place: int) -> HttpResponseBase:
    """One picture of the practice."""
    home = None
    with suppress(BadSignature):
        home = read_worker_token(token, salt=PRACTICE_PICTURES_SALT)
    test = admission_of(home.round).practice if home else None
    item = test.items.select_related("image").filter(place=place).first() if test else None
    return picture_response(item, size=request.GET.get("size", ""))


def _practice_of(home: Home) -> QualificationTest:
    test = admission_of(home.round).practice
    if test is None or home.round.state == "draft":
        raise Trouble("There is no practice here", "This round has no practice.", status=404, home=home.token)
    return test


def _places_of(test: QualificationTest) -> dict[int, int]:
    return dict(test.items.values_list("place", "pk"))


def _feedback(test: QualificationTest, answers: Mapping[int, Answer], task: Question) -> list[Feedback]:
    """Raises CounterpartError unless every pair has one of the task's answers."""
    items = test.items.select_related("caption")
    if missing := [item.place for item in items if item.pk not in answers]:
        raise CounterpartError(f"No answer yet for pair {some_of(missing, at_most=18)}. Answer and send again.")
    if any(answer.level not in task.labels for answer in answers.values()):
        raise CounterpartError("One of the answers is no level; reload the page.")
    right = {
        polarity: [label for level, label in task.labels.items() if level in levels]
        for polarity, levels in RIGHT_LEVELS.items()
    }
    return [
        Feedback(item.place, item.words, task.labels[answers[item.pk].level], right[item.polarity]) for item in items
    ]


def _sheet(
    request: HttpRequest,
    home: Home,
    test: QualificationTest,
    answers: Mapping[int, Answer] | None = None,
    problem: str = "",
) -> HttpResponse:
    shown = sheet_of(
        shown_of(test.items.all()),
        _places_of(test),
        answers or {},
        **question_of(test, home.round),
        problem=problem,
        pictures=address_of_practice_pictures(home),
    )
    context = {"home": home, "round": home.round, "address": request.path, **shown}
    return render(request, "judging/practice.html", context, status=422 if problem else 200)
