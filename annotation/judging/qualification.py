"""The test before a round's first HIT: its pairs on the sheet that HITs have, and its result."""

from contextlib import suppress
from functools import partial

from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation.judging.hit_pictures import picture_response
from annotation.judging.links import (
    TEST_PICTURES_SALT,
    Home,
    Trouble,
    address_of_test_pictures,
    home_of,
    read_worker_token,
    refuse_excluded,
)
from annotation.judging.qualification_sheet import items_page, places_in, question_of
from annotation.judging.sheet_answers import parse_answers, parse_number
from annotation.models import QualificationTest, TestAttempt
from annotation.people.admission import permit_of
from annotation.people.consent import has_agreed
from annotation.people.qualification_tests import Tries, answer_test
from annotation.work.answers import Answer
from core.errors import CounterpartError
from hits.task_types.task_type import Question


@require_http_methods(["GET", "HEAD", "POST"])
def test(request: HttpRequest, token: str) -> HttpResponse:
    """Show the pairs of the next try; sending them shows the result."""
    home = home_of(token)
    tries = _tries_of(home)
    pictures = address_of_test_pictures(home)
    page = partial(items_page, request, home, tries.test, template="judging/test.html", pictures=pictures, tries=tries)
    if request.method != "POST":
        may_try = tries.left and has_agreed(home.worker, home.round)
        return page({}) if may_try else redirect("judging:home", token=token)
    answers: list[Answer] = []
    asked = question_of(tries.test, home.round)
    try:
        answers = parse_answers(request.POST, places_in(tries.test), asked["task"])
        attempt = _send(home, tries.test, answers, asked["task"], request.POST.get("number", ""))
    except CounterpartError as error:
        if not tries.left:
            return redirect("judging:home", token=token)
        return page({answer.item_id: answer for answer in answers}, problem=str(error))
    context = {"home": home, "attempt": attempt, "permit": permit_of(home.round, home.worker)}
    return render(request, "judging/test_result.html", context | asked["task"].guide(asked["wording"]))


@require_safe
def picture(request: HttpRequest, token: str, place: int) -> HttpResponseBase:
    """Send one picture of the test, while a try is left."""
    tries = None
    with suppress(BadSignature):
        home = read_worker_token(token, salt=TEST_PICTURES_SALT)
        tries = _tries_of(home) if home else None
    item = tries.test.items.select_related("image").filter(place=place).first() if tries and tries.left else None
    return picture_response(item, size=request.GET.get("size", ""))


def _tries_of(home: Home) -> Tries:
    permit = permit_of(home.round, home.worker)
    if permit.tries is None or home.round.state == "draft":
        raise Trouble("Test not found", "This round has no test.", status=404, home=home.token)
    refuse_excluded(home)
    return permit.tries


def _send(home: Home, test: QualificationTest, answers: list[Answer], task: Question, number: str) -> TestAttempt:
    if any(answer.level not in task.labels for answer in answers):
        raise CounterpartError("An answer does not belong to this test; reload the page.")
    places = dict(test.items.values_list("pk", "place"))
    levels = {places[answer.item_id]: answer.level for answer in answers}
    return answer_test(test, home.worker, levels, number=parse_number(number, "the try"))
