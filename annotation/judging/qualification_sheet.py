"""The sheet of a test or of practice: its items as the pairs of a HIT."""

from collections.abc import Mapping
from typing import Any

from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.judging.links import Home
from annotation.judging.sheet import ItemContent, sheet_of
from annotation.models import QualificationTest
from annotation.work.answers import Answer, Places
from hits.models import Round
from hits.task_types import task_type_of
from hits.task_types.levels import GRAMMAR, LEVELS


def question_of(test: QualificationTest, round: Round) -> dict[str, Any]:
    """Return how a test or practice puts its items to the round's workers: as ``sheet_of`` takes it. Sentences are
    correct or not; of pairs, a round that does not ask about one pair at a time has them in the four levels."""
    task = task_type_of(round)
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
