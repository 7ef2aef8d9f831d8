from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import WorkerIdentity
from core.errors import CounterpartError
from crowd.messages import write_once
from crowd.models import Message
from tests.factories import make_worker

WORDS = {"subject": "Thank you", "text": "Your notes helped."}


@pytest.fixture
def worker(db, platform):
    worker = make_worker()
    WorkerIdentity.objects.create(worker=worker, channel="mturk", environment="emulator", external_id="A1")
    return worker


def test_the_same_words_sent_twice_are_one_message(worker):
    first, is_new = write_once(worker, **WORDS, by="robin")
    second, again = write_once(worker, subject=" Thank you ", text=WORDS["text"], by="robin")
    assert (first, is_new, again) == (second, True, False)


def test_other_words_and_other_people_send_messages_of_their_own(worker):
    for words in ({"by": "robin"}, {"by": "sam"}, {"by": "robin", "text": "And again."}):
        assert write_once(worker, **WORDS | words)[1]
    assert Message.objects.count() == 3


def test_the_same_words_may_be_sent_again_later(worker):
    write_once(worker, **WORDS, by="robin")
    Message.objects.update(at=timezone.now() - timedelta(minutes=11))
    assert write_once(worker, **WORDS, by="robin")[1]


def test_words_to_nobodys_address_are_refused(db):
    with pytest.raises(CounterpartError, match="have no platform to be written to"):
        write_once(make_worker(), **WORDS, by="robin")
    assert not Message.objects.exists()


def test_words_that_no_database_takes_are_refused(worker):
    with pytest.raises(CounterpartError, match=r"contains 1 control characters: U\+0000"):
        write_once(worker, subject="Thank\0you", text="Your notes helped.", by="robin")
