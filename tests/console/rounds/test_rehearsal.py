"""A rehearsal: a member of staff judges a HIT of a draft on the worker's page. Nothing is stored."""

import re
from decimal import Decimal

import pytest
from django.utils.html import strip_tags

from annotation.models import Assignment, Draft, Judgment, Payment, Worker
from core.models import Event
from hits.models import Round, Seat
from tests.annotation.task_types.rounds import EVERY_TYPE, draft_of
from tests.factories import make_round

PAGE = "/rounds/draft/rehearse/"


def answers(**more) -> dict[str, str]:
    places = Round.objects.get(name="draft").hits.get().items.values_list("place", flat=True)
    return {f"level-{place}": "1" for place in places} | {"active_seconds": "312"} | more


@pytest.fixture
def stored(draft):
    counted = (Assignment, Draft, Judgment, Worker, Event, Seat.objects.filter(state="open").model)
    return lambda: [model.objects.count() for model in counted]


def test_a_hit_is_shown_as_to_its_worker_and_its_pictures_load(researcher, draft):
    page = researcher.get(PAGE)
    assert (page.status_code, "data-draft-url" in page.text, "problem-1" in page.text) == (200, False, True)
    assert researcher.get(f"{PAGE}pictures/1/")["Content-Type"] == "image/jpeg"
    assert researcher.get(f"{PAGE}pictures/99/").status_code == 404


def test_submitting_stores_nothing_and_shows_the_wage(researcher, draft, stored):
    before = stored()
    context = researcher.post(PAGE, answers()).context
    assert (context["hourly"], context["fair"]) == (Decimal("7.5"), Decimal("1.30"))  # $0.65 for 5.2 minutes
    assert stored() == before
    assert Round.objects.get(name="draft").state == "draft"


def rehearsed(page) -> dict[int, str]:
    """The line of each place in the table of answers, without its tags."""
    table = page.text.split("<tbody>")[1].split("</tbody>")[0]
    lines = [strip_tags(row).split() for row in table.split("<tr>")[1:]]
    return {int(place): " ".join(words) for place, *words in lines}


def test_a_researcher_sees_which_controls_were_right_and_the_time_of_each_pair(researcher, draft):
    items = {item.place: item for item in draft.hits.get().items.select_related("control")}
    kinds = {item.control.polarity: place for place, item in items.items() if item.control}
    page = researcher.post(PAGE, answers(**{f"seconds-{place}": str(7 + place) for place in items}))
    lines = rehearsed(page)
    assert lines[kinds["positive"]].endswith(f"positive control 100% YES {7 + kinds['positive']} s")
    assert lines[kinds["negative"]].endswith(f"negative control 100% YES wrong {7 + kinds['negative']} s")
    assert page.context["median"] == 9.5  # of 8, 9, 10 and 11 seconds
    assert (page.context["right"], page.context["controls"], page.context["passes"]) == (1, 2, False)


def test_a_picture_that_does_not_load_passes_no_control(researcher, draft):
    place = draft.hits.get().items.get(control__polarity="positive").place
    page = researcher.post(PAGE, answers(**{f"level-{place}": "0"}))
    assert rehearsed(page)[place].endswith("positive control picture did not load –")
    assert (page.context["right"], page.context["controls"]) == (0, 2)


@pytest.mark.parametrize("task", EVERY_TYPE)
def test_every_type_of_task_is_rehearsed(researcher, db, task):
    made = draft_of(task)
    hit = made.hits.order_by("number").first()
    form = {f"text-{item.place}": f"This is sentence {'abc'[item.place - 1]} here." for item in hit.items.all()[:3]}
    if task != "caption":
        form = {f"level-{item.place}": "1" for item in hit.items.all()}
    page = researcher.post(f"/rounds/{made}/rehearse/", form)
    assert page.status_code == 200
    assert len(rehearsed(page)) == hit.items.count()


def test_the_form_of_a_rehearsal_brings_its_token(researcher, draft):
    researcher.handler.enforce_csrf_checks = True
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', researcher.get(PAGE).content.decode())[1]
    assert researcher.post(PAGE, answers()).status_code == 403
    assert researcher.post(PAGE, answers(csrfmiddlewaretoken=token)).status_code == 200


def test_answers_that_are_missing_or_odd_are_asked_for_again(researcher, draft, stored):
    before = stored()
    for fields in ({"level-1": ""}, {"level-1": "9"}, {"active_seconds": "-1"}):
        assert researcher.post(PAGE, answers(**fields)).status_code == 422, fields
    assert stored() == before


# A simulated crowd rehearses all HITs of a draft


CROWD_PAGE = "/rounds/draft/rehearsals/"
CROWD = {"workers": "4", "profile": "careful"}


def test_a_crowd_rehearses_and_its_figures_are_on_the_page_of_the_draft(researcher, draft, commit):
    assert researcher.get("/rounds/draft/").context["rehearsed"] is None
    with commit(execute=True):
        answer = researcher.post(CROWD_PAGE, CROWD)
    assert researcher.get(answer.url).url == "/rounds/draft/"
    rehearsed = researcher.get("/rounds/draft/").context["rehearsed"]
    assert (rehearsed["workers"], 0 <= rehearsed["verdicts_right"] <= 1) == (4, True)
    for model in (Assignment, Judgment, Payment, Worker):
        assert not model.objects.exists()


def test_an_invalid_crowd_is_refused_at_its_field(researcher, draft):
    refused = researcher.post(CROWD_PAGE, CROWD | {"workers": "0"})
    assert (refused.status_code, "workers" in refused.context["form"].errors) == (422, True)


def test_a_published_round_is_not_rehearsed(researcher, db):
    make_round(name="draft")
    assert researcher.post(CROWD_PAGE, CROWD).status_code == 409
