"""A process that is killed between any two steps of a round on Prolific: nothing is lost, made twice or paid twice.

A step is a transaction that ends, or a call that has had its effect at Prolific.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import partial
from itertools import count

import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.transaction import Atomic

from annotation.models import Assignment, Payment
from annotation.money.ledger import balances
from annotation.money.payments import owe_bonus
from annotation.review.decisions import decide
from crowd.channels.prolific.client import Client
from crowd.models import Posting
from crowd.postings import post_open_seats
from crowd.publication import close_round
from crowd.single_payments import unclear_payments
from hits.models import Seat
from tests.crowd.prolific_rehearsal import (
    Rehearsal,
    check_books,
    check_done,
    code_in,
    published,
    rehearsing,
    rest,
    robin,
    sync,
    work,
)
from tests.factories import make_round

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

Act = Callable[[], object]


class Killed(BaseException):
    """The process is gone: nothing may catch this."""


@pytest.fixture
def at_every_step(settings, monkeypatch):
    """Tell a story, ``story(there, kill)``, in one new world after the other. ``kill(act)`` does an act, and in the
    first world kills the process after the first step, in the second after the second, until the act survives."""

    def tell(story: Callable[[Rehearsal, Callable[[Act], None]], None], *, least: int) -> None:
        for steps in count(1):
            left = [steps]
            with new_world(settings) as there:
                story(there, partial(kill_after, left, monkeypatch))
            if left[0] > 0:
                assert steps > least
                return

    return tell


@contextmanager
def new_world(settings) -> Iterator[Rehearsal]:
    """A new emulator, and the database as it was."""
    block = transaction.atomic()
    block._from_testcase = True  # code under test still has to open a transaction of its own
    with rehearsing(settings) as there, block:
        yield there
        transaction.set_rollback(True)


def kill_after(left: list[int], monkeypatch, act: Act) -> None:
    """Do ``act``, and kill the process when no step is ``left``."""
    end, send = Atomic.__exit__, Client._send

    def step() -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed

    def ending(self, *args):
        end(self, *args)
        step()

    def sending(self, *args, **options):
        reply = send(self, *args, **options)
        step()
        return reply

    with monkeypatch.context() as patched, suppress(Killed):
        patched.setattr(Atomic, "__exit__", ending)
        patched.setattr(Client, "_send", sending)
        act()


def test_publishing_leaves_one_study(at_every_step, commit):
    def publish(made):
        options = {"channel": "prolific", "environment": "emulator", "expected_minutes": Decimal(8)}
        with commit(execute=True):
            call_command("publish", made.name, **options)

    def story(there, kill):
        made = make_round(hits=2, published=False, reward="2.00")
        kill(partial(publish, made))
        publish(made)
        made.refresh_from_db()
        rest(made, there, commit)
        work(there, commit, 2)
        rest(made, there, commit)
        check_done(made, there, hits=2)

    at_every_step(story, least=10)


def test_a_visit_stores_the_answers_once(at_every_step, commit):
    def reload(there, submission, person):
        """Reload the page on which the participant was left alone, and go on from there."""
        with commit(execute=True):
            page = there.come(there.start(submission, person), person)
            shown = there.browser(person).get(page.url).text if page.status_code == 303 else page.text
            is_answered = 'name="cc"' in shown
            code = code_in(shown) if is_answered else there.answer(submission, person, page.url)
            there.complete(submission, person, code)

    def story(there, kill):
        made = published(hits=1, commit=commit)
        kill(partial(work, there, commit))
        with there.world.looking() as state:
            left = [(one.id, one.participant_id) for one in state.submissions.values() if one.status == "ACTIVE"]
        for submission, person in left:
            reload(there, submission, person)
        rest(made, there, commit)
        check_done(made, there, hits=1)

    at_every_step(story, least=10)


def test_a_sync_pays_everybody_once(at_every_step, commit):
    def story(there, kill):
        made = published(hits=2, commit=commit)
        work(there, commit, 2)
        kill(partial(sync, made, commit))
        rest(made, there, commit)
        check_done(made, there, hits=2)

    at_every_step(story, least=10)


def test_more_places_are_added_once(at_every_step, commit):
    def grow(made):
        with commit(execute=True):
            post_open_seats(made)

    def story(there, kill):
        made = published(hits=2, commit=commit)
        Seat.objects.create(round=made, hit=made.hits.first(), number=2)
        kill(partial(grow, made))
        rest(made, there, commit)
        assert there.study().places == Posting.objects.get().posted_assignments == 3
        check_books(made, there)

    at_every_step(story, least=4)


def test_a_decision_pays_once_and_adds_one_place(at_every_step, commit):
    def exclude(flagged):
        with commit(execute=True):
            decide(flagged, votes_count=False, paid=True, reason="The controls failed.", by=robin())

    def story(there, kill):
        made = published(hits=1, commit=commit)
        with commit(execute=True):
            flagged = there.work(wrong=True)
        rest(made, there, commit)
        robin()
        kill(partial(exclude, flagged))
        if Assignment.objects.get(pk=flagged.pk).state == "flagged":
            exclude(flagged)
        rest(made, there, commit)
        work(there, commit)
        rest(made, there, commit)
        assert (there.statuses(), there.study().places) == (["APPROVED"] * 2, 2)
        assert list(Payment.objects.values_list("state", flat=True)) == ["paid"] * 2
        check_books(made, there)

    at_every_step(story, least=5)


def test_a_bonus_is_paid_once_or_left_to_a_person(at_every_step, commit):
    def give():
        with commit(execute=True):
            owe_bonus(Assignment.objects.get(), amount=Decimal("0.50"), reason="Thank you.", actor="robin")

    def story(there, kill):
        made = published(hits=1, commit=commit)
        work(there, commit)
        rest(made, there, commit)
        kill(give)
        give()
        rest(made, there, commit, times=10)
        bonus, paid = Payment.objects.get(kind="bonus"), there.bonuses()
        assert paid in ([], [Decimal("0.50")])
        assert bonus.state == ("paid" if paid else "owed")
        assert unclear_payments().count() == (0 if paid else 1)

    at_every_step(story, least=8)


def test_a_closed_round_settles(at_every_step, commit):
    def close(made):
        with commit(execute=True):
            close_round(made, actor="robin")

    def story(there, kill):
        made = published(hits=2, commit=commit)
        work(there, commit)
        rest(made, there, commit)
        kill(partial(close, made))
        close(made)
        made.refresh_from_db()
        rest(made, there, commit)
        posting = Posting.objects.get()
        assert (posting.state, bool(posting.settled_at), balances(made)["held"]) == ("closed", True, 0)
        check_books(made, there)

    at_every_step(story, least=4)
