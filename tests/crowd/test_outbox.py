from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Assignment, Payment, WorkerIdentity
from core.errors import CounterpartError
from core.models import Event
from crowd.calls import outbox
from crowd.calls.outbox import LOST_AFTER, MAX_ATTEMPTS, deliver, deliver_due, put, send_again, take_wanted
from crowd.calls.single_payments import settle
from crowd.channels.base import ChannelError
from crowd.messages import write_once, write_to
from crowd.models import Message, Outbox, Posting
from tests.annotation.money.moneyed import accepted, posted
from tests.commands import figures_printed
from tests.crowd.platform import published, sync
from tests.factories import make_round, make_worker

State = Outbox.State
SANDBOX = {"channel": "mturk", "environment": "sandbox"}


@pytest.fixture
def call(db, platform) -> Outbox:
    """A call to put a HIT on a platform, written down and not yet made."""
    return put(Outbox.Call.PUBLISH, posting(), **SANDBOX)


def posting() -> Posting:
    hit = make_round().hits.get()
    return Posting.objects.create(round=hit.round, hit=hit, max_assignments=1, **SANDBOX)


def later(row, by=timedelta(days=1)):
    """Let time pass for a row."""
    row.refresh_from_db()
    Outbox.objects.filter(pk=row.pk).update(due_at=row.due_at - by)


def test_a_call_is_made_once_its_change_is_committed(platform, db, commit):
    with commit(execute=True):
        row = put(Outbox.Call.PUBLISH, posting(), **SANDBOX)
        assert platform.calls == []
    assert platform.calls == [("publish", str(row.pk))]


def test_a_call_whose_wish_has_gone_is_not_made(call, platform):
    Posting.objects.update(state="closed")
    assert deliver(call.pk)
    assert platform.calls == []


def test_a_call_that_is_done_is_not_made_again(call, platform):
    assert [deliver(call.pk), deliver(call.pk)] == [True, False]
    assert (deliver_due(), len(platform.calls)) == (0, 1)


def test_a_subject_has_one_call_of_each_kind(call):
    posted = Posting.objects.get()
    assert put(Outbox.Call.PUBLISH, posted, **SANDBOX) == call
    assert put(Outbox.Call.CLOSE, posted, **SANDBOX) != call
    assert put(Outbox.Call.PUBLISH, posted, **SANDBOX | {"environment": "production"}) != call


def test_a_call_under_way_is_left_to_its_sender(call, platform):
    Outbox.objects.update(state=State.SENDING, due_at=timezone.now() + LOST_AFTER)
    assert not deliver(call.pk)
    assert platform.calls == []


def test_a_call_whose_sender_died_is_made_again_under_its_token(call, platform, monkeypatch):
    def die(row, settle):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(outbox, "_finish", die)
        with pytest.raises(KeyboardInterrupt):
            deliver(call.pk)
    assert deliver_due() == 0
    later(call, LOST_AFTER)
    assert deliver_due() == 1
    assert (len(platform.calls), len(platform.effects)) == (2, 1)


def test_a_passing_failure_is_tried_again_after_a_pause(call, platform):
    platform.failures = [ChannelError("Throttled")]
    assert not deliver(call.pk)
    call.refresh_from_db()
    assert (call.state, call.error, call.attempts) == (State.PENDING, "Throttled", 1)
    assert deliver_due() == 0
    later(call)
    assert deliver_due() == 1


def pauses_of(call, n):
    for _ in range(n):
        deliver(call.pk)
        call.refresh_from_db()
        yield round((call.due_at - timezone.now()).total_seconds())
        later(call)


@pytest.mark.parametrize(
    ("asked", "pauses"),
    [
        ({}, [30, 60, 120]),
        ({"retry_after": timedelta(seconds=600), "reached": False}, [600, 1200, 2400, 3600, 3600]),
    ],
)
def test_pauses_grow_where_the_platform_asks_for_them_up_to_an_hour(call, platform, monkeypatch, asked, pauses):
    monkeypatch.setattr(outbox.random, "uniform", lambda low, high: low)
    platform.failures = [ChannelError("Throttled", **asked)] * len(pauses)
    assert [*pauses_of(call, len(pauses))] == pauses


def test_calls_that_a_platform_puts_off_together_are_neither_made_together_nor_given_up(call, platform):
    platform.failures = [ChannelError("Throttled", retry_after=timedelta(hours=1), reached=False)] * 20
    pauses = [*pauses_of(call, 20)]
    assert len(set(pauses)) > 10
    assert 3600 <= min(pauses) < max(pauses) <= 5400
    assert deliver(call.pk)


def test_what_a_dead_sender_did_is_unclear(call, platform):
    Outbox.objects.update(state=State.SENDING, due_at=timezone.now() - LOST_AFTER)
    platform.failures = [ChannelError("Throttled", reached=False)]
    deliver(call.pk)
    call.refresh_from_db()
    assert (call.state, call.unclear) == (State.PENDING, True)


def test_a_refusal_fails_at_once_with_its_reason(call, platform):
    platform.failures = [ChannelError("No such account", permanent=True)]
    assert not deliver(call.pk)
    call.refresh_from_db()
    assert (call.state, call.error) == (State.FAILED, "No such account")
    assert Event.objects.get(verb="failed").data["error"] == "No such account"
    later(call)
    assert (deliver_due(), len(platform.calls)) == (0, 1)


def test_a_call_that_keeps_failing_is_given_up(call, platform):
    platform.failures = [ChannelError("Throttled")] * 20
    for _ in range(12):
        deliver(call.pk)
        later(call)
    call.refresh_from_db()
    assert (len(platform.calls), call.state) == (MAX_ATTEMPTS, State.FAILED)


def test_a_call_that_kills_every_sender_is_given_up(call, platform):
    Outbox.objects.update(state=State.SENDING, attempts=MAX_ATTEMPTS)
    assert deliver_due() == 0
    call.refresh_from_db()
    assert (call.state, platform.calls) == (State.FAILED, [])


def test_one_broken_call_does_not_hold_up_the_rest(call, platform):
    Outbox.objects.create(channel="nowhere", call="publish", subject=call.subject.replace("posting", "none"))
    assert deliver_due() == 1
    call.refresh_from_db()
    assert call.state == State.DONE


def test_a_failed_call_can_be_sent_again_by_a_person(call, platform, commit):
    platform.failures = [ChannelError("No money", permanent=True)]
    deliver(call.pk)
    with commit(execute=True):
        assert send_again(call, actor="robin")
    call.refresh_from_db()
    assert call.state == State.DONE
    assert not send_again(call, actor="robin")
    assert Event.objects.get(verb="sent again").actor == "robin"


def test_a_late_sender_does_not_overwrite_what_its_successor_did(call, platform, monkeypatch):
    def overtaken(round, *, token):
        Outbox.objects.update(attempts=2)
        raise ChannelError("Timed out", permanent=True)

    monkeypatch.setattr(platform, "publish", overtaken)
    deliver(call.pk)
    call.refresh_from_db()
    assert call.state == State.SENDING


@pytest.fixture
def payment(db, platform) -> Payment:
    """A reward that is owed on a platform, its call written down and not yet made."""
    accepted(posted())
    take_wanted()
    return Payment.objects.get()


@pytest.mark.parametrize(
    ("failure", "mark"),
    [
        (None, Payment.Call.NONE),
        (ChannelError("Throttled", reached=False), Payment.Call.NONE),
        (ChannelError("No such account", reached=False, permanent=True), Payment.Call.NONE),
        (ChannelError("Lost", reached=True), Payment.Call.UNDER_WAY),
    ],
    ids=["made", "put off", "refused", "unclear"],
)
def test_a_payment_is_under_way_while_the_platform_may_be_making_it(payment, platform, failure, mark):
    def pay(paid, *, token):
        assert Payment.objects.get().call == Payment.Call.UNDER_WAY
        if failure:
            raise failure

    platform.pay = pay
    assert deliver(Outbox.objects.get(call=Outbox.Call.PAY).pk) == (failure is None)
    assert Payment.objects.get().call == mark


def test_a_call_that_is_wanted_again_while_it_is_made_stays_wanted(payment, platform):
    def want(paid, *, token):
        Payment.objects.update(call=Payment.Call.WANTED)

    platform.pay = want
    assert deliver(Outbox.objects.get(call=Outbox.Call.PAY).pk)
    assert Payment.objects.get().call == Payment.Call.WANTED


def test_only_an_unclear_payment_can_be_settled(call):
    Outbox.objects.update(state=State.FAILED)
    with pytest.raises(CounterpartError, match="settled"):
        settle(call, was_paid=True, by="Mina")


WORDS = {"subject": "Thank you", "text": "Your notes helped."}


@pytest.fixture
def worker(db, platform):
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id="A1")
    return worker


def test_the_same_words_sent_twice_are_one_message_within_ten_minutes(worker):
    first, is_new = write_once(worker, **WORDS, by="robin")
    second, again = write_once(worker, subject=" Thank you ", text=WORDS["text"], by="robin")
    assert (first, is_new, again) == (second, True, False)
    Message.objects.update(at=timezone.now() - timedelta(minutes=11))
    assert write_once(worker, **WORDS, by="robin")[1]


def test_other_words_and_other_people_send_messages_of_their_own(worker):
    for words in ({"by": "robin"}, {"by": "sam"}, {"by": "robin", "text": "And again."}):
        assert write_once(worker, **WORDS | words)[1]
    assert Message.objects.count() == 3


def test_25_workers_are_written_to_with_three_calls_of_a_platform_that_takes_ten(db, platform):
    platform.most_recipients = 10
    workers = [make_worker() for _ in range(25)]
    for number, worker in enumerate(workers):
        WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id=f"B{number}")
    messages = write_to(workers, **WORDS, by="robin")
    assert sorted(len(row.payload["messages"]) for row in Outbox.objects.all()) == [5, 10, 10]
    deliver_due()
    assert (len(messages), [name for name, _ in platform.calls]) == (25, ["message"] * 3)


def test_whom_the_platform_could_not_reach_is_listed_and_kept(rehearsal, commit, person):
    made = published(hits=3, commit=commit)
    for hit_id, wrong in zip(rehearsal.hits(), (False, False, True), strict=True):
        rehearsal.work(hit_id, rehearsal.worker(), wrong_controls=wrong)
    sync(made, commit)  # two are paid; the third waits for a person, so MTurk does not let us write to them
    words = ("--subject", "Thanks", "--text", "The round is done.", "--by", person.username)
    figures = figures_printed("message", made.name, *words)
    waiting = Assignment.objects.get(state="flagged").worker
    assert (figures["workers"], figures["not delivered"], figures["calls waiting or failed"]) == (3, 1, 0)
    assert [failure["worker"] for failure in figures["failures"]] == [str(waiting)]
    assert rehearsal.workers[2] not in figures["failures"][0]["why"]
    assert [message.worker for message in Message.objects.exclude(failure="")] == [waiting]
    assert Outbox.objects.filter(call="message").count() == 1
    with pytest.raises(CommandError, match="no recipients"):
        call_command("message", made.name, *words)


def test_a_worker_without_an_address_cannot_be_written_to(db):
    with pytest.raises(CounterpartError, match="no platform"):
        write_once(make_worker(), **WORDS, by="robin")
    assert not Message.objects.exists()
