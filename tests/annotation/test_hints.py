"""Events hasten a sync; twice, shuffled, lost or forged they change nothing that it finds."""

import boto3
import pytest

from annotation.syncing import hinted_rounds, rounds_to_sync
from annotation.tasks import follow_hints, sync_rounds
from hits.channels.mturk.hints import hits_in
from hits.models import Assignment, Payment
from tests.annotation.platform import published, rehearsal, sync

__all__ = ["rehearsal"]


@pytest.fixture
def commit(django_capture_on_commit_callbacks):
    return django_capture_on_commit_callbacks


@pytest.fixture
def queue(rehearsal, settings) -> str:
    """A queue on the emulator that our settings name."""
    emulator = settings.MTURK["emulator"]
    keys = {"aws_access_key_id": emulator["access_key"], "aws_secret_access_key": emulator["secret_key"]}
    sqs = boto3.client("sqs", region_name="us-east-1", endpoint_url=emulator["endpoint"], **keys)
    settings.MTURK_QUEUE_URL = sqs.create_queue(QueueName="events")["QueueUrl"]
    return settings.MTURK_QUEUE_URL


def test_a_submission_is_hinted_at_once_and_only_once(rehearsal, queue, commit):
    made = published(commit=commit)
    assert hinted_rounds() == []
    rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    assert [hinted_rounds(), hinted_rounds()] == [[made], []]


def test_without_a_queue_there_are_no_hints(rehearsal, commit):
    published(commit=commit)
    rehearsal.work(rehearsal.hits()[0], rehearsal.worker())
    assert hinted_rounds() == []


@pytest.mark.parametrize("kind", ["repeat", "shuffle", "lose", "early"])
def test_events_in_disorder_change_nothing_that_is_found(rehearsal, queue, commit, settings, kind):
    settings.SYNC_LAG_SECONDS = 60
    rehearsal.fault(kind=kind, **({"seconds": 5} if kind == "early" else {}))
    made = published(commit=commit)
    for hit_id in rehearsal.hits():
        rehearsal.work(hit_id, rehearsal.worker())
    with commit(execute=True):
        follow_hints()
    rehearsal.later(seconds=6)
    sync(made, commit), sync(made, commit)
    assert list(Assignment.objects.values_list("state", flat=True)) == ["accepted"] * 2
    assert list(Payment.objects.values_list("state", flat=True)) == ["paid"] * 2


def test_the_clock_syncs_every_round_that_something_may_still_come_of(rehearsal, commit):
    made = published(commit=commit)
    assert rounds_to_sync() == [made]
    for hit_id in rehearsal.hits():
        rehearsal.work(hit_id, rehearsal.worker())
    for _ in range(3):
        with commit(execute=True):
            sync_rounds()
    assert Payment.objects.filter(state="paid").count() == 2
    assert rounds_to_sync() == []


def test_a_platform_that_is_down_gives_no_hints_and_no_error(rehearsal, queue, commit, settings):
    published(commit=commit)
    settings.MTURK = settings.MTURK | {"emulator": settings.MTURK["emulator"] | {"endpoint": "http://127.0.0.1:9"}}
    assert hinted_rounds() == []


@pytest.mark.parametrize("body", ["", "{}", "[]", '{"Events": 7}', '{"Events": [{"EventType": "Ping"}]}', "\x00"])
def test_a_message_that_is_no_event_is_passed_over(body):
    assert hits_in(body) == set()
