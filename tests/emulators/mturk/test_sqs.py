"""The queues as plain boto3 reads them."""

import hashlib

import pytest
from botocore.exceptions import ClientError

from emulators.mturk.launching import launch
from emulators.mturk.signing import REQUESTER, Credential
from emulators.mturk.world import World
from tests.emulators.mturk.conftest import SESSION


def client(emulator):
    keys = {"aws_access_key_id": REQUESTER.access_key, "aws_secret_access_key": REQUESTER.secret_key}
    return SESSION.client("sqs", region_name="us-east-1", endpoint_url=emulator.url, **keys)


@pytest.fixture
def sqs(connect):
    return connect(service="sqs")


@pytest.fixture
def queue(sqs) -> str:
    return sqs.create_queue(QueueName="events")["QueueUrl"]


@pytest.fixture
def ping(mturk, queue):
    """Put a test event into the queue."""
    given = {"Destination": queue, "Transport": "SQS", "Version": "2006-05-05", "EventTypes": ["HITReviewable"]}
    return lambda: mturk.send_test_event_notification(Notification=given, TestEventType="Ping")


def test_a_queue_is_found_by_its_name(sqs, queue, emulator):
    assert sqs.get_queue_url(QueueName="events")["QueueUrl"] == queue
    assert queue.startswith(emulator.url)


def test_a_message_is_received_and_deleted(sqs, queue, ping):
    ping()
    [message] = sqs.receive_message(QueueUrl=queue, MessageSystemAttributeNames=["All"])["Messages"]
    assert message["MD5OfBody"] == hashlib.md5(message["Body"].encode()).hexdigest()
    assert message["Attributes"]["ApproximateReceiveCount"] == "1"
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
    figures = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["All"])["Attributes"]
    assert (figures["ApproximateNumberOfMessages"], figures["ApproximateNumberOfMessagesNotVisible"]) == ("0", "0")


def test_messages_are_deleted_in_a_batch(sqs, queue, ping):
    ping(), ping()
    taken = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    entries = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(taken)]
    answer = sqs.delete_message_batch(QueueUrl=queue, Entries=entries)
    assert [each["Id"] for each in answer["Successful"]] == ["0", "1"]
    assert "Failed" not in answer or answer["Failed"] == []


def test_a_missing_queue_has_both_of_its_codes(sqs):
    with pytest.raises(sqs.exceptions.QueueDoesNotExist) as missing:
        sqs.get_queue_url(QueueName="nothing")
    assert missing.value.response["Error"]["Code"] == "AWS.SimpleQueueService.NonExistentQueue"


def test_a_maximum_that_boto3_lets_through_is_refused(sqs, queue, refused):
    code, _, message = refused(sqs.receive_message, QueueUrl=queue, MaxNumberOfMessages=11)
    assert code == "InvalidParameterValue"
    assert "1 to 10" in message


def test_an_operation_that_is_not_emulated_says_which_are(sqs, queue, refused):
    code, _, message = refused(sqs.send_message, QueueUrl=queue, MessageBody="hello")
    assert code == "UnsupportedOperation"
    assert "ReceiveMessage" in message


def test_a_wrong_secret_is_refused(connect):
    wrong = connect(Credential(REQUESTER.access_key, "wrong"), service="sqs")
    with pytest.raises(ClientError, match="signature"):
        wrong.get_queue_url(QueueName="events")


def test_a_queue_outlives_a_restart_with_its_journal(tmp_path):
    path = tmp_path / "journal.jsonl"
    with launch(World(seed=1, journal=path)) as first:
        url = client(first).create_queue(QueueName="events", Attributes={"VisibilityTimeout": "5"})["QueueUrl"]
    with launch(World(seed=1, journal=path)) as second:
        figures = client(second).get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])
    assert figures["Attributes"] == {"VisibilityTimeout": "5"}
