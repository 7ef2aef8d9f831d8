"""Sessions that end in another way than planned: late, returned, rejected on the platform's own site, without answers,
or with two people in one."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Judgment, Payment, WorkerIdentity
from annotation.review.decisions import decide, reject
from core.errors import CounterpartError
from crowd import endings
from crowd.models import Outbox, Posting
from crowd.posting.publication import close_round
from crowd.sync import rounds_to_sync
from crowd.visits.arrivals import SESSION_LIFE
from hits.models import Seat
from tests.annotation.answering import as_form, right_answers
from tests.crowd.fakes import robin
from tests.crowd.session_fakes import agree, enter, start, start_without_hit, sync, work

REASON = "The answers are the same for every pair, whatever the pictures show, and took four seconds in all. " * 2


def only() -> Assignment:
    return Assignment.objects.get()


def pay(assignment: Assignment) -> None:
    decide(assignment, votes_count=True, paid=True, reason="They have finished.", by=robin())


def turn_down(assignment: Assignment) -> None:
    reject(assignment, grounds="random", reason=REASON, evidence="4 seconds", by=robin())


def calls(there) -> list[str]:
    return [call for call, _ in there.calls]


@pytest.mark.parametrize("counts", [True, False])
def test_a_session_that_lands_after_a_bonus_is_asked_about_until_it_is_returned(client, made, there, commit, counts):
    with commit(execute=True):
        work(client, there, listed="expired")
    sync(made, commit)
    with commit(execute=True):
        decide(only(), votes_count=counts, paid=True, reason="They have finished.", by=robin())
    there.come("S1", "P1", "submitted")
    sync(made, commit)
    assert (only().state, only().problem) == ("flagged", endings.LANDED)
    there.come("S1", "P1", "returned")
    for _ in range(2):
        sync(made, commit)
    assert (only().state, only().problem) == ("accepted" if counts else "excluded", "")
    assert calls(there).count("pay") == 1
    assert [(one.kind, one.state) for one in Payment.objects.exclude(state="withdrawn")] == [("bonus", "paid")]
    assert Seat.objects.filter(state="filled").count() == counts


@pytest.mark.parametrize(("wrong", "state", "paid"), [(False, "accepted", [("reward", "paid")]), (True, "flagged", [])])
def test_answers_in_a_session_that_lands_after_its_time_are_graded_as_any_others(
    client, made, there, commit, wrong, state, paid
):
    with commit(execute=True):
        work(client, there, listed="expired", wrong=wrong)
    sync(made, commit)
    assert (only().state, only().problem) == ("flagged", endings.ENDED)
    there.come("S1", "P1", "submitted")
    for _ in range(2):
        sync(made, commit)
    assert (only().state, only().problem, Judgment.objects.count()) == (state, "", 4)
    assert [(one.kind, one.state) for one in Payment.objects.exclude(state="withdrawn")] == paid


def test_the_question_about_a_session_without_a_hit_follows_its_present_state(client, made, there, commit):
    Seat.objects.update(state="taken")
    start_without_hit(client, there, "S1", "P1")
    there.come("S1", "P1", "expired")
    sync(made, commit)
    there.come("S1", "P1", "submitted")
    sync(made, commit)
    assert (only().state, only().problem) == ("flagged", endings.LANDED_LATE)
    with commit(execute=True):
        decide(only(), votes_count=False, paid=True, reason="They came.", by=robin())
    sync(made, commit)
    assert [(one.kind, one.state) for one in Payment.objects.all()] == [("reward", "paid")]


def test_a_bonus_that_is_still_owed_goes_when_the_platform_pays_the_reward(client, made, there, commit):
    with commit(execute=True):
        work(client, there, listed="expired")
    sync(made, commit)
    pay(only())  # its call waits
    there.come("S1", "P1", "approved")
    sync(made, commit)
    sync(made, commit)
    assert sorted(Payment.objects.values_list("kind", "state")) == [("bonus", "withdrawn"), ("reward", "paid")]
    assert calls(there) == []


@pytest.mark.parametrize("wrong", [False, True])
def test_work_that_was_rejected_on_the_platforms_own_site_is_paid_by_a_bonus(client, made, there, commit, wrong):
    with commit(execute=True):
        work(client, there, listed="rejected", wrong=wrong)
    there.reversible = timedelta(0)
    sync(made, commit)
    assert (only().state, only().problem) == ("flagged", endings.REJECTED_THERE)
    with commit(execute=True):
        pay(only())
    sync(made, commit)
    assert [(one.kind, one.state) for one in Payment.objects.exclude(state="withdrawn")] == [("bonus", "paid")]
    assert (only().state, calls(there)) == ("accepted", ["pay"])


@pytest.mark.parametrize("listed", ["returned", "expired", "rejected"])
def test_a_rejection_here_of_what_is_unpaid_there_makes_no_call(client, made, there, commit, listed):
    with commit(execute=True):
        work(client, there, listed=listed)
    sync(made, commit)
    with commit(execute=True):
        turn_down(only())
    sync(made, commit)
    assert (only().state, calls(there), Outbox.objects.filter(state="failed").count()) == ("excluded", [], 0)


def test_rejected_work_that_its_worker_returns_stays_rejected(client, made, there, commit):
    with commit(execute=True):
        work(client, there, wrong=True)
    sync(made, commit)
    turn_down(only())  # its call waits
    there.come("S1", "P1", "returned")
    sync(made, commit)
    assert (only().state, only().problem, calls(there)) == ("excluded", "", [])


def test_answers_that_come_after_the_platform_lists_the_session_are_stored_once(client, made, there, commit):
    sheet = start(client, there)
    there.come("S1", "P1", "submitted")
    sync(made, commit)
    assert "1 of 4" in client.get(sheet).text
    for _ in range(2):
        with commit(execute=True):
            page = client.post(sheet, as_form(only(), right_answers(only()))).text
    assert "has confirmed your answers" in page
    assert (only().state, only().problem, Judgment.objects.count()) == ("accepted", "", 4)
    sync(made, commit)
    assert (Payment.objects.get().state, calls(there)) == ("paid", ["pay"])


def test_answers_that_come_after_a_person_has_decided_change_nothing(client, made, there, commit):
    sheet = start(client, there)
    there.come("S1", "P1", "submitted")
    sync(made, commit)
    decide(only(), votes_count=False, paid=True, reason="They came.", by=robin())
    page = client.post(sheet, as_form(only(), right_answers(only()))).text
    assert "<form" not in page
    assert (only().state, Judgment.objects.count()) == ("excluded", 0)


def test_of_two_people_in_one_session_the_votes_of_the_wrong_one_do_not_count(client, made, there, commit):
    there.unreachable = True
    sheet = start(client, there, "S1", "P1")
    there.unreachable = False
    there.come("S1", "P2")
    other = Client()
    agree(other, enter(other, "S1", "P2"))
    there.sessions["S1"] = ("P2", "")
    wrong = Assignment.objects.earliest("pk")
    with commit(execute=True):
        client.post(sheet, as_form(wrong, right_answers(wrong)))
    there.come("S1", "P2", "submitted")
    sync(made, commit)
    wrong.refresh_from_db()
    assert (wrong.state, wrong.problem) == ("flagged", endings.FOREIGN)


def test_who_comes_while_the_platform_cannot_be_asked_is_let_in_and_not_paid_unless_it_lists_them(
    client, made, there, commit
):
    there.unreachable = True
    with commit(execute=True):
        work(client, there, listed="")
    there.sessions.clear()
    Assignment.objects.update(submitted_at=timezone.now() - timedelta(hours=2))
    sync(made, commit)
    assert only().problem == endings.UNKNOWN
    with pytest.raises(CounterpartError, match="cannot be paid"):
        pay(only())
    assert (calls(there), Payment.objects.filter(state="owed").exists()) == ([], False)


def test_the_code_is_not_shown_to_who_has_answered_nothing(client, made, there, commit):
    there.unreachable = True
    sheet = start(client, there, "S1", "P1")
    there.come("S1", "P2", "submitted")
    sync(made, commit)
    assert "DONE1" not in client.get(sheet).text


def test_a_session_that_timed_out_after_its_answers_is_still_read_when_its_round_has_settled(
    client, made, there, commit
):
    with commit(execute=True):
        work(client, there, listed="expired")
    sync(made, commit)
    close_round(made, actor="robin")
    Posting.objects.update(state="closed", settled_at=timezone.now())
    assert rounds_to_sync() == [made]
    with commit(execute=True):
        turn_down(only())
    assert rounds_to_sync() == []


def test_visitors_who_never_said_whether_they_take_part_are_forgotten_after_a_day(client, made, there, commit):
    enter(client, "S1", "P1")
    call_command("reconcile")
    known = WorkerIdentity.objects.get()
    type(known.worker).objects.update(created_at=timezone.now() - SESSION_LIFE)
    call_command("reconcile")
    assert not WorkerIdentity.objects.exists()
