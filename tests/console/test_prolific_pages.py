"""The pages of a round on Prolific, and what a person decides there."""

import json
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Assignment, Payment
from annotation.payments import owe_bonus
from crowd.models import Outbox
from tests.crowd.prolific_rehearsal import published, rehearsal, sync
from tests.factories import make_round

__all__ = ["rehearsal"]


@pytest.fixture
def commit(django_capture_on_commit_callbacks):
    return django_capture_on_commit_callbacks


@pytest.fixture
def made(rehearsal, commit):
    """A round with one paid and one flagged assignment."""
    made = published(hits=3, commit=commit)
    with commit(execute=True):
        rehearsal.work()
        rehearsal.work(wrong=True)
    sync(made, commit)
    return made


@pytest.mark.parametrize(
    "page",
    ["/rounds/{}/", "/rounds/{}/ledger/", "/rounds/{}/audit/", "/rounds/{}/close/", "/calls/", "/events/?round={}"],
)
def test_its_pages_open(made, researcher, page):
    assert researcher.get(page.format(made.name)).status_code == 200


def test_it_is_offered_for_publishing(rehearsal, researcher):
    make_round(name="draft", published=False, reward="2.00")
    page = researcher.get("/rounds/draft/publish/?on=prolific:emulator")
    assert "Prolific, emulator" in page.text


def test_the_page_of_work_says_that_a_rejection_is_final(made, reviewer):
    flagged = Assignment.objects.get(state="flagged")
    page = reviewer.get(reverse("assignment", args=[flagged.pk])).text
    assert "a rejection is final" in page
    assert "100 characters" in page


def unclear(made, rehearsal, commit) -> Outbox:
    rehearsal.fault(kind="reset", operation="pay_bonuses", times=1)
    with commit(execute=True):
        owe_bonus(Assignment.objects.get(state="accepted"), amount=Decimal("0.50"), reason="Thanks.", actor="robin")
    for _ in range(10):
        sync(made, commit)
    return Outbox.objects.get(state="failed")


@pytest.mark.parametrize(("answer", "state", "paid"), [("yes", "paid", 0), ("no", "paid", 1)])
def test_an_unclear_bonus_is_settled_on_the_page_of_calls(made, rehearsal, commit, researcher, answer, state, paid):
    row = unclear(made, rehearsal, commit)
    page = researcher.get("/calls/").text
    assert "It was not: pay it" in page
    assert f"/calls/{row.pk}/send/" not in page
    with commit(execute=True):
        assert researcher.post(f"/calls/{row.pk}/settle/", {"was_paid": answer}).status_code == 302
    for _ in range(2):
        sync(made, commit)
        rehearsal.later(minutes=2)
    sync(made, commit)
    assert (Payment.objects.get(kind="bonus").state, len(rehearsal.bonuses())) == (state, paid)


def test_the_ledger_says_on_one_line_what_one_person_earned(made, capsys):
    capsys.readouterr()
    call_command("ledger", made.name, json=True)
    (worker,) = json.loads(capsys.readouterr().out)["workers"]
    assert (worker["rewards"], worker["base"], worker["extra"]) == (1, "2.00", "0.00")
