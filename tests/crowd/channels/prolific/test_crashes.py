"""A process that is killed after any step of a round on Prolific: nothing is lost, made twice or paid twice."""

from decimal import Decimal
from functools import partial

import pytest
from django.core.management import call_command

from annotation.models import Assignment, Payment
from annotation.money.ledger import balances
from annotation.money.payments import owe_bonus
from annotation.review.decisions import decide
from crowd.calls.single_payments import unclear_payments
from crowd.models import Posting
from crowd.posting.postings import post_open_seats
from crowd.posting.publication import close_round
from hits.models import Round, Seat
from tests.crowd.fakes import robin
from tests.crowd.killing import kill_everywhere
from tests.crowd.platform import sync
from tests.crowd.prolific_rehearsal import check_books, check_done, code_in, published, rest, rest_until_clear, work
from tests.factories import make_round

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def test_publishing_leaves_one_study(rehearsal, commit):
    made = make_round(published=False, reward="2.00")

    def publish():
        options = {"channel": "prolific", "environment": "emulator", "expected_minutes": Decimal(8)}
        with commit(execute=True):
            call_command("publish", made.name, **options)

    def go_on(place):
        publish()
        made.refresh_from_db()
        rest(made, rehearsal, commit, times=1)
        work(rehearsal, commit)
        rest(made, rehearsal, commit, times=2)
        check_done(made, rehearsal, hits=1)

    assert len(kill_everywhere(rehearsal.emulator, publish, go_on)) >= 8


def test_a_visit_stores_the_answers_once(rehearsal, commit):
    made = published(hits=1, commit=commit)

    def reload(submission, person):
        """Reload the page on which the participant was left alone, and go on from there."""
        with commit(execute=True):
            page = rehearsal.come(rehearsal.start(submission, person), person)
            shown = rehearsal.browser(person).get(page.url).text if page.status_code == 303 else page.text
            is_answered = 'name="cc"' in shown
            code = code_in(shown) if is_answered else rehearsal.answer(submission, person, page.url)
            rehearsal.complete(submission, person, code)

    def go_on(place):
        with rehearsal.world.looking() as state:
            left = [(one.id, one.participant_id) for one in state.submissions.values() if one.status == "ACTIVE"]
        for submission, person in left:
            reload(submission, person)
        rest(made, rehearsal, commit, times=2)
        check_done(made, rehearsal, hits=1)

    assert len(kill_everywhere(rehearsal.emulator, partial(work, rehearsal, commit), go_on)) >= 6


def test_a_sync_pays_everybody_once(rehearsal, commit):
    made = published(hits=2, commit=commit)
    work(rehearsal, commit, 2)

    def go_on(place):
        rest(made, rehearsal, commit, times=2)
        check_done(made, rehearsal, hits=2)

    assert len(kill_everywhere(rehearsal.emulator, partial(sync, made, commit), go_on)) >= 9


def test_more_places_are_added_once(rehearsal, commit):
    made = published(hits=2, commit=commit)
    Seat.objects.create(round=made, hit=made.hits.first(), number=2)

    def grow():
        with commit(execute=True):
            post_open_seats(made)

    def go_on(place):
        rest(made, rehearsal, commit, times=2)
        assert rehearsal.study().places == Posting.objects.get().posted_assignments == 3
        check_books(made, rehearsal)

    assert len(kill_everywhere(rehearsal.emulator, grow, go_on)) >= 4


def test_a_decision_pays_once_and_adds_one_place(rehearsal, commit):
    made = published(hits=1, commit=commit)
    with commit(execute=True):
        rehearsal.work(wrong=True)
    sync(made, commit)
    robin()

    def exclude():
        with commit(execute=True):
            decide(Assignment.objects.get(), votes_count=False, paid=True, reason="Controls failed.", by=robin())

    def go_on(place):
        if Assignment.objects.get().state == "flagged":
            exclude()
        rest(made, rehearsal, commit, times=1)
        work(rehearsal, commit)
        rest(made, rehearsal, commit, times=2)
        assert (rehearsal.statuses(), rehearsal.study().places) == (["APPROVED"] * 2, 2)
        assert list(Payment.objects.values_list("state", flat=True)) == ["paid"] * 2
        check_books(made, rehearsal)

    assert len(kill_everywhere(rehearsal.emulator, exclude, go_on)) >= 5


def test_a_bonus_is_paid_once_or_left_to_a_person(rehearsal, commit):
    made = published(hits=1, commit=commit)
    work(rehearsal, commit)
    sync(made, commit)

    def give():
        with commit(execute=True):
            owe_bonus(Assignment.objects.get(), amount=Decimal("0.50"), reason="Thank you.", actor="robin")

    def go_on(place):
        give()
        rest_until_clear(made, rehearsal, commit)
        bonus, paid = Payment.objects.get(kind="bonus"), rehearsal.bonuses()
        was_about_to_pay = place == "POST submissions/bonus-payments/, then _mark_sent"
        assert paid == ([] if was_about_to_pay else [Decimal("0.50")])
        assert bonus.state == ("paid" if paid else "owed")
        assert unclear_payments().count() == (0 if paid else 1)

    assert len(kill_everywhere(rehearsal.emulator, give, go_on)) >= 7


def test_a_closed_round_settles(rehearsal, commit):
    published(hits=2, commit=commit)
    work(rehearsal, commit)
    sync(Round.objects.get(), commit)

    def close():
        with commit(execute=True):
            close_round(Round.objects.get(), actor="robin")

    def go_on(place):
        close()
        closed = Round.objects.get()
        rest(closed, rehearsal, commit, times=2)
        posting = Posting.objects.get()
        assert (posting.state, bool(posting.settled_at), balances(closed)["held"]) == ("closed", True, 0)
        check_books(closed, rehearsal)

    assert len(kill_everywhere(rehearsal.emulator, close, go_on)) >= 4
