"""A process that is killed between any two steps of a round on Prolific: nothing is lost, made twice or paid twice.

A step is a transaction that ends, or a call that has had its effect at Prolific. Each test kills the process after the
first step, then, in a new world, after the second one, and so on until the act survives.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from functools import partial
from itertools import count

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.transaction import Atomic

from annotation.decisions import decide
from annotation.ledger import balances
from annotation.models import Assignment, Judgment, Payment
from annotation.payments import owe_bonus
from crowd.channels.prolific.client import Client
from crowd.models import Outbox, Posting
from crowd.postings import post_open_seats
from crowd.publication import close_round
from crowd.single_payments import unclear_payments
from hits.models import Round, Seat
from tests.crowd.prolific_rehearsal import Rehearsal, code_in, published, rehearsing, sync
from tests.factories import make_round

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


class Killed(BaseException):
    """The process is gone: nothing may catch this."""


@pytest.fixture
def commit(django_capture_on_commit_callbacks):
    return django_capture_on_commit_callbacks


@pytest.fixture
def worlds(settings):
    """New worlds, one after the other: an emulator, and the database as it was."""

    @contextmanager
    def world() -> Iterator[Rehearsal]:
        block = transaction.atomic()
        block._from_testcase = True  # code under test still has to open a transaction of its own
        with rehearsing(settings) as there, block:
            yield there
            transaction.set_rollback(True)

    return world


def is_killed(after: int, act: Callable[[], object], monkeypatch) -> bool:
    """Do ``act``, and kill the process after so many steps; False: it took fewer."""
    left, end, send = [after], Atomic.__exit__, Client._send

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
    return left[0] <= 0


def rest(made: Round, there: Rehearsal, commit, times: int = 3) -> None:
    """Let the time pass after which a lost call is taken up, and sync."""
    for _ in range(times):
        there.later(minutes=2)
        with suppress(CommandError):
            sync(made, commit)


def check(made: Round, there: Rehearsal, *, hits: int) -> None:
    """One study, every answer stored once, everybody paid once, and books that agree with Prolific's."""
    assert len(there.studies()) == 1
    assert (Posting.objects.get().external_id, there.study().places) == (there.study().id, hits)
    assert Judgment.objects.count() == 4 * hits
    assert list(Payment.objects.values_list("state", flat=True)) == ["paid"] * hits
    assert there.statuses() == ["APPROVED"] * hits
    check_books(made, there)
    assert not Outbox.objects.exclude(state="done").exists()


def check_books(made: Round, there: Rehearsal) -> None:
    books = balances(made)
    assert sum(books.values()) == 0
    assert books["paid"] + books["fees"] + books["held"] == there.spent()


def work(there: Rehearsal, commit, times: int = 1) -> None:
    with commit(execute=True):
        for _ in range(times):
            there.work()


def test_publishing_leaves_one_study(worlds, commit, monkeypatch):
    def publish(made):
        options = {"channel": "prolific", "environment": "emulator", "expected_minutes": Decimal(8)}
        with commit(execute=True):
            call_command("publish", made.name, **options)

    for after in count(1):
        with worlds() as there:
            made = make_round(hits=2, published=False, reward="2.00")
            killed = is_killed(after, partial(publish, made), monkeypatch)
            publish(made)
            made.refresh_from_db()
            rest(made, there, commit)
            work(there, commit, 2)
            rest(made, there, commit)
            check(made, there, hits=2)
        if not killed:
            break
    assert after > 10


def test_a_visit_stores_the_answers_once(worlds, commit, monkeypatch):
    """The participant reloads the page on which they were left alone."""

    def visit(there):
        with commit(execute=True):
            there.work()

    def go_on(there):
        with there.world.looking() as state:
            left = [(one.id, one.participant_id) for one in state.submissions.values() if one.status == "ACTIVE"]
        for submission, person in left:
            with commit(execute=True):
                page = there.come(there.start(submission, person), person)
                shown = there.browser(person).get(page.url).text if page.status_code == 303 else page.text
                is_answered = 'name="cc"' in shown
                code = code_in(shown) if is_answered else there.answer(submission, person, page.url)
                there.complete(submission, person, code)

    for after in count(1):
        with worlds() as there:
            made = published(hits=1, commit=commit)
            killed = is_killed(after, partial(visit, there), monkeypatch)
            go_on(there)
            rest(made, there, commit)
            check(made, there, hits=1)
        if not killed:
            break
    assert after > 10


def test_a_sync_pays_everybody_once(worlds, commit, monkeypatch):
    for after in count(1):
        with worlds() as there:
            made = published(hits=2, commit=commit)
            work(there, commit, 2)
            killed = is_killed(after, partial(sync, made, commit), monkeypatch)
            rest(made, there, commit)
            check(made, there, hits=2)
        if not killed:
            break
    assert after > 10


def test_more_places_are_added_once(worlds, commit, monkeypatch):
    def grow(made):
        with commit(execute=True):
            post_open_seats(made)

    for after in count(1):
        with worlds() as there:
            made = published(hits=2, commit=commit)
            Seat.objects.create(round=made, hit=made.hits.first(), number=2)
            killed = is_killed(after, partial(grow, made), monkeypatch)
            rest(made, there, commit)
            assert there.study().places == Posting.objects.get().posted_assignments == 3
            check_books(made, there)
        if not killed:
            break
    assert after > 4


def test_a_decision_pays_once_and_adds_one_place(worlds, commit, monkeypatch):
    def act(flagged, by):
        with commit(execute=True):
            decide(flagged, votes_count=False, paid=True, reason="The controls failed.", by=by)

    for after in count(1):
        with worlds() as there:
            made = published(hits=1, commit=commit)
            with commit(execute=True):
                flagged = there.work(wrong=True)
            rest(made, there, commit)
            robin = User.objects.get_or_create(username="robin")[0]
            killed = is_killed(after, partial(act, flagged, robin), monkeypatch)
            if Assignment.objects.get(pk=flagged.pk).state == "flagged":
                act(flagged, robin)
            rest(made, there, commit)
            work(there, commit)
            rest(made, there, commit)
            assert (there.statuses(), there.study().places) == (["APPROVED"] * 2, 2)
            assert list(Payment.objects.values_list("state", flat=True)) == ["paid"] * 2
            check_books(made, there)
        if not killed:
            break
    assert after > 5


def test_a_bonus_is_paid_once_or_left_to_a_person(worlds, commit, monkeypatch):
    def give():
        with commit(execute=True):
            owe_bonus(Assignment.objects.get(), amount=Decimal("0.50"), reason="Thank you.", actor="robin")

    for after in count(1):
        with worlds() as there:
            made = published(hits=1, commit=commit)
            work(there, commit)
            rest(made, there, commit)
            killed = is_killed(after, give, monkeypatch)
            give()
            rest(made, there, commit, times=10)
            bonus = Payment.objects.get(kind="bonus")
            paid = there.bonuses()
            assert paid in ([], [Decimal("0.50")])
            assert bonus.state == ("paid" if paid else "owed")
            assert unclear_payments().count() == (0 if paid else 1)
        if not killed:
            break
    assert after > 8


def test_a_closed_round_settles(worlds, commit, monkeypatch):
    def close(made):
        with commit(execute=True):
            close_round(made, actor="robin")

    for after in count(1):
        with worlds() as there:
            made = published(hits=2, commit=commit)
            work(there, commit)
            rest(made, there, commit)
            killed = is_killed(after, partial(close, made), monkeypatch)
            close(made)
            made.refresh_from_db()
            rest(made, there, commit)
            posting = Posting.objects.get()
            assert (posting.state, bool(posting.settled_at), balances(made)["held"]) == ("closed", True, 0)
            check_books(made, there)
        if not killed:
            break
    assert after > 4
