"""The test before a round's first HIT, and practice: their items on the sheet that HITs have, and the result. Practice
says after each answer and at the end which answers are right, and why; nothing of it is stored."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.core.signing import BadSignature
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation.judging.hit_pictures import picture_response
from annotation.judging.links import (
    PRACTICE_PICTURES_SALT,
    TEST_PICTURES_SALT,
    Home,
    Trouble,
    folder_of_pictures,
    home_of,
    read_worker_token,
    refuse_excluded,
    worker_token,
)
from annotation.judging.sheet import ItemContent, sheet_of
from annotation.judging.sheet_answers import parse_answers, parse_number
from annotation.models import QualificationTest, TestItem
from annotation.people.admission import admission_of, permit_of
from annotation.people.consent import has_agreed
from annotation.people.guides import guided_task
from annotation.people.qualification_questions import POSITIVE
from annotation.people.qualification_tests import Tries, answer_test
from annotation.work.answers import Answer, Places
from core.errors import CounterpartError, some_of
from hits.models import Round
from hits.question import RIGHT_LEVELS
from hits.task_types.levels import GRAMMAR, LEVELS
from hits.task_types.task_type import Question


def question_of(test: QualificationTest, round: Round) -> dict[str, Any]:
    """Return how a test or practice puts its items to the round's workers: as ``sheet_of`` takes it. Sentences are
    correct or not; of pairs, a round that does not ask about one pair at a time has them in the four levels."""
    task = guided_task(round)
    if test.items.filter(image=None).exists():
        return {"task": GRAMMAR, "wording": GRAMMAR.latest_wording, "reasons": False}
    if task.on_pairs and task.group == 1:
        return {"task": task, "wording": round.wording, "reasons": False}
    return {"task": LEVELS, "wording": LEVELS.latest_wording, "reasons": False}


def places_in(test: QualificationTest) -> Places:
    return dict(test.items.values_list("place", "pk"))


def items_page(
    request: HttpRequest,
    home: Home,
    test: QualificationTest,
    answers: Mapping[int, Answer],
    *,
    template: str,
    pictures: str,
    problem: str = "",
    **context: object,
) -> HttpResponse:
    """Show the items with the answers so far; ``problem`` says why these were not taken."""
    sentence = Coalesce("caption__text", "sentence")
    columns = "pk", "image", "image__sha256", sentence, "test__collection__language", "image__width", "image__height"
    shown = sheet_of(
        [ItemContent(*row) for row in test.items.order_by().values_list(*columns)],
        places_in(test),
        answers,
        **question_of(test, home.round),
        problem=problem,
        pictures=pictures,
    )
    context |= {"home": home, "round": home.round, "address": request.path, **shown}
    return render(request, template, context, status=422 if problem else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def test(request: HttpRequest, token: str) -> HttpResponse:
    """Show the pairs of the next try; sending them shows the result."""
    home = home_of(token)
    tries = _tries_of(home)
    token_of_pictures = worker_token(home.worker, home.round, salt=TEST_PICTURES_SALT)
    pictures = folder_of_pictures("judging:test_picture", token_of_pictures)
    page = partial(items_page, request, home, tries.test, template="judging/test.html", pictures=pictures, tries=tries)
    if request.method != "POST":
        may_try = tries.left and has_agreed(home.worker, home.round)
        return page({}) if may_try else redirect("judging:home", token=token)
    answers: list[Answer] = []
    asked = question_of(tries.test, home.round)
    places = places_in(tries.test)
    place_of = {item: place for place, item in places.items()}
    try:
        answers = parse_answers(request.POST, places, asked["task"])
        if any(answer.level not in asked["task"].labels for answer in answers):
            raise CounterpartError("An answer does not belong to this test; reload the page.")
        levels = {place_of[answer.item_id]: answer.level for answer in answers}
        number = parse_number(request.POST.get("number", ""), "the try")
        attempt = answer_test(tries.test, home.worker, levels, number=number)
    except CounterpartError as error:
        if not tries.left:
            return redirect("judging:home", token=token)
        return page({answer.item_id: answer for answer in answers}, problem=str(error))
    context = {"home": home, "attempt": attempt, "permit": permit_of(home.round, home.worker)}
    return render(request, "judging/test_result.html", context | asked["task"].guide(asked["wording"]))


@require_safe
def test_picture(request: HttpRequest, token: str, place: int) -> HttpResponseBase:
    """Send one picture of the test, while a try is left."""
    tries = None
    with suppress(BadSignature):
        home = read_worker_token(token, salt=TEST_PICTURES_SALT)
        tries = _tries_of(home) if home else None
    item = tries.test.items.select_related("image").filter(place=place).first() if tries and tries.left else None
    return picture_response(request, item)


def _tries_of(home: Home) -> Tries:
    permit = permit_of(home.round, home.worker)
    if permit.tries is None or home.round.state == "draft":
        raise Trouble(_("Test not found"), _("This round has no test."), status=404, home=home.token)
    refuse_excluded(home)
    return permit.tries


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
            written = _("The sentence is written correctly.")
            source = written if is_positive else _("The sentence has a mistake in writing.")
        elif self.item.test.disputed:
            source = _("Workers disagreed about this pair. It was decided afterwards.")
        else:
            written = _("The sentence was written for this picture.")
            source = written if is_positive else _("The sentence was written for another picture.")
        return f"{source} {self.item.reason}".strip()


@require_http_methods(["GET", "HEAD", "POST"])
def practice(request: HttpRequest, token: str) -> HttpResponse:
    """Show the pairs; sending the answers shows which were right."""
    home = home_of(token)
    test = _practice_of(home)
    answers: dict[int, Answer] = {}
    token_of_pictures = worker_token(home.worker, home.round, salt=PRACTICE_PICTURES_SALT)
    pictures = folder_of_pictures("judging:practice_picture", token_of_pictures)
    page = partial(items_page, request, home, test, template="judging/practice.html", pictures=pictures)
    if request.method != "POST":
        return page(answers) if has_agreed(home.worker, home.round) else redirect("judging:home", token=token)
    asked = question_of(test, home.round)
    try:
        answers = {answer.item_id: answer for answer in parse_answers(request.POST, places_in(test), asked["task"])}
        items = test.items.select_related("caption", "test")
        if missing := [item.place for item in items if item.pk not in answers]:
            raise CounterpartError(f"No answer yet for pair {some_of(missing, at_most=18)}. Answer and send again.")
        feedback = [_feedback_on(item, answers[item.pk].level, **asked) for item in items]
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
        one = _feedback_on(get_object_or_404(test.items.select_related("caption", "test"), place=place), level, **asked)
    except CounterpartError as error:
        return HttpResponse(str(error), status=422, content_type="text/plain")
    return render(request, "judging/_why.html", {"one": one})


@require_safe
def practice_picture(request: HttpRequest, token: str, place: int) -> HttpResponseBase:
    """Send one picture of the practice."""
    home = None
    with suppress(BadSignature):
        home = read_worker_token(token, salt=PRACTICE_PICTURES_SALT)
    test = admission_of(home.round).practice if home else None
    item = test.items.select_related("image").filter(place=place).first() if test else None
    return picture_response(request, item)


def _practice_of(home: Home) -> QualificationTest:
    test = admission_of(home.round).practice
    if test is None or home.round.state == "draft":
        raise Trouble(_("Practice not found"), _("This round has no practice."), status=404, home=home.token)
    return test


def _feedback_on(item: TestItem, level: int, task: Question, wording: int, **_: object) -> PracticeFeedback:
    if level not in task.labels:
        raise CounterpartError("An answer has an invalid level; reload the page.")
    return PracticeFeedback(item, level, task.choices(wording))
