"""What a platform lists of a round that it posts as a whole: submissions, ended sessions, places and pay."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.models import Assignment, Payment
from annotation.money.ledger import balance_of, balances
from annotation.money.payments import PAID_AS_BONUS, owe_bonus
from annotation.review.decisions import decide, reject
from core.errors import CounterpartError
from crowd import endings
from crowd.models import Posting, Visit
from crowd.posting.postings import post_open_seats
from crowd.visits import sessions
from hits.models import Round, Seat
from tests.annotation.answering import as_form, right_answers
from tests.crowd.fakes import robin
from tests.crowd.session_fakes import start, sync, work
from tests.transactions import locked_in_order


def test_a_listed_session_is_locked_after_its_round(client, made, there):
    start(client, there)
    posting = Posting.objects.get()
    keep = lambda: sessions.keep_sessions(posting, there.collect(posting).assignments)  # noqa: E731
    assert locked_in_order(keep) == [Round, Visit]  # and its assignment with it


@pytest.mark.parametrize(("listed", "graded"), [("returned", True), ("expired", False)])
def test_who_has_answered_in_a_session_that_ended_is_paid_by_a_person(client, made, there, commit, listed, graded):
    with commit(execute=graded):
        work(client, there, listed=listed)
    sync(made, commit)
    assignment = Assignment.objects.get()
    assert (assignment.state, assignment.problem) == ("flagged", endings.ENDED)
    with commit(execute=True):
        decide(assignment, votes_count=True, paid=True, reason="They have finished.", by=robin())
    sync(made, commit)
    paid = Payment.objects.get(state="paid")
    assert (paid.kind, paid.reason, paid.amount) == ("bonus", PAID_AS_BONUS, Decimal("0.65"))
    assert Assignment.objects.get().state == "accepted"
    assert [call for call, _ in there.calls] == ["pay"]
    assert sum(balances(made).values()) == 0


def test_late_answers_are_stored_while_the_seat_is_free(client, made, there, commit):
    sheet = start(client, there)
    there.come("S1", "P1", "expired")
    sync(made, commit)
    assignment = Assignment.objects.get()
    assert "DONE1" in client.post(sheet, as_form(assignment, right_answers(assignment))).text
    sync(made, commit)
    assert Assignment.objects.get().problem == endings.ENDED


def test_work_that_the_platform_settles_in_its_own_way_is_for_a_person_and_paid_by_nothing_but_a_bonus(
    client, made, there, commit
):
    with commit(execute=True):
        work(client, there, listed="settled")
    sync(made, commit)
    assignment = Assignment.objects.get()
    assert (assignment.state, assignment.problem) == ("flagged", endings.SETTLED)
    with pytest.raises(CounterpartError, match="settled by its platform"):
        reject(assignment, grounds="random", evidence="x", by=robin(), reason="All the same. " * 9)
    with commit(execute=True):
        owe_bonus(assignment, amount=Decimal("0.40"), reason="The rest of your pay.", actor="robin")
        decide(assignment, votes_count=True, paid=True, reason="Part was paid there.", by=robin())
    for _ in range(2):
        sync(made, commit)
    assert Assignment.objects.get().state == "accepted"
    assert [(one.kind, one.amount) for one in Payment.objects.filter(state="paid")] == [("bonus", Decimal("0.40"))]
    assert [call for call, _ in there.calls] == ["pay"]
    assert sum(balances(made).values()) == 0


def test_a_submission_without_answers_is_for_a_person(client, made, there, commit):
    start(client, there)
    there.come("S1", "P1", "submitted")
    sync(made, commit)
    assignment = Assignment.objects.get()
    assert (assignment.state, assignment.problem) == ("flagged", endings.UNANSWERED)
    decide(assignment, votes_count=False, paid=True, reason="The page had failed.", by=robin())
    sync(made, commit)
    assert Payment.objects.get().state == "paid"
    assert Posting.objects.get().max_assignments == 3


def test_a_session_that_the_platform_gives_to_another_worker_is_for_a_person(client, made, there, commit):
    there.unreachable = True
    with commit(execute=True):
        work(client, there, "S1", "P1", listed="")
    there.come("S1", "P2", "submitted")
    sync(made, commit)
    assert set(Assignment.objects.values_list("problem", flat=True)) == {endings.FOREIGN, endings.UNOPENED}
    assert not Payment.objects.filter(state="paid").exists()


def test_excluded_votes_are_paid_and_ask_for_one_more_place(client, made, there, commit):
    with commit(execute=True):
        work(client, there, wrong=True)
    assignment = Assignment.objects.get()
    assert assignment.state == "flagged"
    sync(made, commit)
    assert Posting.objects.get().max_assignments == 2
    with commit(execute=True):
        decide(assignment, votes_count=False, paid=True, reason="Controls failed.", by=robin())
    sync(made, commit)
    assert (Posting.objects.get().max_assignments, Payment.objects.get().state) == (3, "paid")
    assert sync(made, commit).asked_for == 0
    assert sum(balances(made).values()) == 0


def test_a_rejection_needs_a_long_reason_and_its_place_is_free_by_itself(client, made, there, commit):
    with commit(execute=True):
        work(client, there, wrong=True)
    assignment = Assignment.objects.get()
    sync(made, commit)
    words = {"grounds": "random", "evidence": "All ones.", "by": robin()}
    with pytest.raises(CounterpartError, match="at least 100 characters"):
        reject(assignment, reason="Random answers.", **words)
    with commit(execute=True):
        reject(assignment, reason="Every one of the answers is the same. " * 4, **words)
    there.come("S1", "P1", "rejected")
    sync(made, commit)
    assert [call for call, _ in there.calls] == ["reject"]
    assert Posting.objects.get().max_assignments == 2
    assert balance_of(made).commitment.held == 2 * made.seat_cost


def test_no_more_places_are_asked_for_than_the_ceiling_pays(made):
    Round.objects.update(ceiling=made.seat_cost * 2)
    made.refresh_from_db()
    Seat.objects.create(round=made, hit=made.hits.first(), number=2)
    assert post_open_seats(made) == 0
    assert Posting.objects.get().max_assignments == 2


def test_the_seat_of_a_session_that_lasts_too_long_is_free(client, made, there, commit):
    start(client, there)
    Assignment.objects.update(deadline=timezone.now() - timedelta(minutes=1))
    call_command("reconcile")
    assert Assignment.objects.get().state == "expired"
    assert sync(made, commit).asked_for == 0
