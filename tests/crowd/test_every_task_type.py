"""A HIT of every type of task on the emulated platforms, from publication to what was stored of it."""

import re
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.judging.links import read_assignment_token
from annotation.models import Assignment, Judgment
from hits.models import Round
from hits.task_types import TASK_TYPES
from simulation.http_browser import Page, filled_in
from tests.annotation.task_types.rounds import EVERY_TYPE, draft_of, form_of
from tests.crowd import platform, prolific_rehearsal

pytestmark = pytest.mark.slow

SCREENS = {"checkbox": 6, "determinate": 20, "preference": 40, "caption": 5}


def publish(task: str, channel: str, commit) -> Round:
    made = draft_of(task)
    Round.objects.filter(pk=made.pk).update(reward="5.00", ceiling="5000")
    with commit(execute=True):
        call_command("publish", made.name, channel=channel, environment="emulator", expected_minutes=Decimal(10))
    made.refresh_from_db()
    return made


def check_listed(task: str, title: str, description: str) -> None:
    """The list names what this type asks, and how much."""
    number = int(re.search(r"\d+", description)[0])
    assert (title, description) == (TASK_TYPES[task].title, TASK_TYPES[task].lead.format(n=number))
    assert number == SCREENS.get(task, number)


def check_stored(made: Round, task: str) -> None:
    """All answers are stored once; work counts, but for sentences, which a person reads first."""
    assignment = Assignment.objects.get(hit__round=made)
    items = assignment.hit.items.count()
    assert Judgment.objects.filter(assignment=assignment).count() == items
    assert assignment.state == ("flagged" if task == "caption" else "accepted")
    written = Judgment.objects.exclude(text="").values_list("text", flat=True)
    assert len(set(written)) == (items if task == "caption" else 0)


def send_one_hit(there: platform.Rehearsal) -> None:
    """A worker accepts a HIT on MTurk, answers it on our page and hands it in there."""
    hit, worker = there.hits()[0], there.worker()
    assignment_id = there.accept(hit, worker)
    address = there.open_page(hit, assignment_id, worker)
    form = form_of(read_assignment_token(address.rstrip("/").split("/")[-1]))
    saved = Client().post(address, form | {"active_seconds": "0"})
    assert saved.status_code == 200, saved.text
    sending = Page("http://testserver" + address, saved.text).forms[0]
    there.submit(assignment_id, worker, filled_in(sending, {}))


@pytest.mark.parametrize("task", EVERY_TYPE)
def test_a_hit_is_listed_in_the_words_of_its_type_and_done_on_mturk(rehearsal, commit, task):
    made = publish(task, "mturk", commit)
    hit = rehearsal.world.call("GetHIT", {"HITId": rehearsal.hits()[0]})["HIT"]
    check_listed(task, hit["Title"], hit["Description"])
    assert hit["Keywords"] == TASK_TYPES[task].keywords
    send_one_hit(rehearsal)
    platform.sync(made, commit)
    check_stored(made, task)


@pytest.mark.parametrize("task", ["levels", "caption"])  # its visitors answer on the pages of the browser pool
def test_a_hit_is_listed_in_the_words_of_its_type_and_done_on_prolific(prolific, commit, task):
    made = publish(task, "prolific", commit)
    terms = prolific.study().terms
    check_listed(task, terms["name"], terms["description"])
    submission, person, sheet = prolific.open()
    form = form_of(Assignment.objects.get(outside_key=submission))
    page = prolific.browser(person).post(sheet, form)
    prolific.complete(submission, person, prolific_rehearsal.code_in(page.text))
    platform.sync(made, commit)
    check_stored(made, task)
