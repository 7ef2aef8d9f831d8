"""A process that is killed after any step of a round on Prolific: nothing is lost, made twice or paid twice."""

from collections.abc import Callable
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
from hits.models import Seat
from tests.crowd.fakes import robin
from tests.crowd.killing import Killer, kill_everywhere
from tests.crowd.prolific_rehearsal import (
    Rehearsal,
    check_books,
    check_done,
    code_in,
    published,
    rehearsing,
    rest,
    rest_until_clear,
    sync,
    work,
)
from tests.factories import make_round

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def at_every_step(settings):
    """Run a story in one new world after the other, in each of which its process is killed after another step."""

    def run(story: Callable[[Rehearsal, Killer], None], *, least: int) -> None:
        places = kill_everywhere(partial(rehearsing, settings), story)
        assert len(places) >= least, places

    return run


def test_publishing_leaves_one_study(at_every_step, commit):
    def publish(made):
        options = {"channel": "prolific", "environment": "emulator", "expected_minutes": Decimal(8)}
        with commit(execute=True):
            call_command("publish", made.name, **options)

    def story(there, killer):
        made = make_round(published=False, reward="2.00")
        killer.do(partial(publish, made))
        publish(made)
        made.refresh_from_db()
        rest(made, there, commit, times=2)
        work(there, commit)
        rest(made, there, commit, times=2)
        check_done(made, there, hits=1)

    at_every_step(story, least=8)


def test_a_visit_stores_the_answers_once(at_every_step, commit):
    def reload(there, submission, person):
        """Reload the page on which the participant was left alone, and go on from there."""
        with commit(execute=True):
            page = there.come(there.start(submission, person), person)
            shown = there.browser(person).get(page.url).text if page.status_code == 303 else page.text
            is_answered = 'name="cc"' in shown
            code = code_in(shown) if is_answered else there.answer(submission, person, page.url)
            there.complete(submission, person, code)

    def story(there, killer):
        made = published(hits=1, commit=commit)
        killer.do(partial(work, there, commit))
        with there.world.looking() as state:
            left = [(one.id, one.participant_id) for one in state.submissions.values() if one.status == "ACTIVE"]
        for submission, person in left:
            reload(there, submission, person)
        rest(made, there, commit, times=2)
        check_done(made, there, hits=1)

    at_every_step(story, least=6)


def test_a_sync_pays_everybody_once(at_every_step, commit):
    def story(there, killer):
        made = published(hits=2, commit=commit)
        work(there, commit, 2)
        killer.do(partial(sync, made, commit))
        rest(made, there, commit, times=2)
        check_done(made, there, hits=2)

    at_every_step(story, least=9)


def test_more_places_are_added_once(at_every_step, commit):
    def grow(made):
        with commit(execute=True):
            post_open_seats(made)

    def story(there, killer):
        made = published(hits=2, commit=commit)
        Seat.objects.create(round=made, hit=made.hits.first(), number=2)
        killer.do(partial(grow, made))
        rest(made, there, commit, times=2)
        assert there.study().places == Posting.objects.get().posted_assignments == 3
        check_books(made, there)

    at_every_step(story, least=4)


def test_a_decision_pays_once_and_adds_one_place(at_every_step, commit):
    def exclude(flagged):
        with commit(execute=True):
            decide(flagged, votes_count=False, paid=True, reason="The controls failed.", by=robin())

    def story(there, killer):
        made = published(hits=1, commit=commit)
        with commit(execute=True):
            flagged = there.work(wrong=True)
        sync(made, commit)
        robin()
        killer.do(partial(exclude, flagged))
        if Assignment.objects.get(pk=flagged.pk).state == "flagged":
            exclude(flagged)
        rest(made, there, commit, times=2)
        work(there, commit)
        rest(made, there, commit, times=2)
        assert (there.statuses(), there.study().places) == (["APPROVED"] * 2, 2)
        assert list(Payment.objects.values_list("state", flat=True)) == ["paid"] * 2
        check_books(made, there)

    at_every_step(story, least=5)


def test_a_bonus_is_paid_once_or_left_to_a_person(at_every_step, commit):
    def give():
        with commit(execute=True):
            owe_bonus(Assignment.objects.get(), amount=Decimal("0.50"), reason="Thank you.", actor="robin")

    def story(there, killer):
        made = published(hits=1, commit=commit)
        work(there, commit)
        sync(made, commit)
        killer.do(give)
        give()
        rest_until_clear(made, there, commit)
        bonus, paid = Payment.objects.get(kind="bonus"), there.bonuses()
        was_about_to_pay = killer.killed_at == "POST submissions/bonus-payments/, then _mark_sent"
        assert paid == ([] if was_about_to_pay else [Decimal("0.50")])
        assert bonus.state == ("paid" if paid else "owed")
        assert unclear_payments().count() == (0 if paid else 1)

    at_every_step(story, least=7)


def test_a_closed_round_settles(at_every_step, commit):
    def close(made):
        with commit(execute=True):
            close_round(made, actor="robin")

    def story(there, killer):
        made = published(hits=2, commit=commit)
        work(there, commit)
        sync(made, commit)
        killer.do(partial(close, made))
        close(made)
        made.refresh_from_db()
        rest(made, there, commit, times=2)
        posting = Posting.objects.get()
        assert (posting.state, bool(posting.settled_at), balances(made)["held"]) == ("closed", True, 0)
        check_books(made, there)

    at_every_step(story, least=4)
