from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Assignment, WorkerIdentity
from core.errors import CounterpartError
from crowd.calls.outbox import deliver_due
from crowd.messages import write_once, write_to
from crowd.models import Message, Outbox
from tests.commands import figures_printed
from tests.crowd.platform import published, sync
from tests.factories import make_worker

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
    figures = figures_printed("write_to_workers", made.name, *words)
    waiting = Assignment.objects.get(state="flagged").worker
    assert (figures["workers"], figures["not delivered"], figures["calls waiting or failed"]) == (3, 1, 0)
    assert [failure["worker"] for failure in figures["failures"]] == [str(waiting)]
    assert rehearsal.workers[2] not in figures["failures"][0]["why"]
    assert [message.worker for message in Message.objects.exclude(failure="")] == [waiting]
    assert Outbox.objects.filter(call="message").count() == 1
    with pytest.raises(CommandError, match="no recipients"):
        call_command("write_to_workers", made.name, *words)


def test_a_worker_without_an_address_cannot_be_written_to(db):
    with pytest.raises(CounterpartError, match="no platform"):
        write_once(make_worker(), **WORDS, by="robin")
    assert not Message.objects.exists()
