from datetime import UTC, datetime, timedelta
from threading import Thread

import pytest

from emulators.mturk.clock import Clock
from emulators.mturk.sqs.errors import SqsError
from emulators.mturk.sqs.operations import Sqs
from emulators.mturk.sqs.queues import Queues
from emulators.mturk.world import World

URL = "http://127.0.0.1:8900/111122223333/events"


class Still(Clock):
    """A clock that stands until a test moves it."""

    def __init__(self) -> None:
        super().__init__()
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Still:
    return Still()


@pytest.fixture
def queues(clock) -> Queues:
    return Queues(seed=1, now=clock.now)


@pytest.fixture
def sqs(clock, queues) -> Sqs:
    made = Sqs(World(clock=clock), queues, address=lambda: "http://127.0.0.1:8900")
    made.perform("CreateQueue", {"QueueName": "events"})
    return made


def receive(sqs, **parameters) -> list[dict]:
    return sqs.perform("ReceiveMessage", {"QueueUrl": URL, "MaxNumberOfMessages": 10, **parameters}).get("Messages", [])


def bodies(sqs, **parameters) -> list[str]:
    return [message["Body"] for message in receive(sqs, **parameters)]


def test_a_message_is_hidden_while_somebody_works_on_it_and_comes_again(sqs, queues, clock):
    queues.send("events", "one")
    assert [bodies(sqs), bodies(sqs)] == [["one"], []]
    clock.at += timedelta(seconds=30)
    again = receive(sqs, MessageSystemAttributeNames=["ApproximateReceiveCount"])[0]
    assert (again["Body"], again["Attributes"]) == ("one", {"ApproximateReceiveCount": "2"})


def test_a_deleted_message_does_not_come_again(sqs, queues, clock):
    queues.send("events", "one")
    sqs.perform("DeleteMessage", {"QueueUrl": URL, "ReceiptHandle": receive(sqs)[0]["ReceiptHandle"]})
    clock.at += timedelta(hours=1)
    assert bodies(sqs) == []


def test_the_receipt_of_an_earlier_showing_deletes_nothing(sqs, queues, clock):
    queues.send("events", "one")
    first = receive(sqs, VisibilityTimeout=0)[0]["ReceiptHandle"]
    receive(sqs)
    sqs.perform("DeleteMessage", {"QueueUrl": URL, "ReceiptHandle": first})
    clock.at += timedelta(hours=1)
    assert bodies(sqs) == ["one"]


def test_a_delayed_message_is_invisible_until_its_time(sqs, queues, clock):
    queues.send("events", "later", delay=timedelta(seconds=60))
    assert bodies(sqs) == []
    clock.at += timedelta(seconds=60)
    assert bodies(sqs) == ["later"]


def test_shuffled_messages_come_in_another_order_and_all_of_them(sqs, queues):
    for number in range(9):
        queues.send("events", str(number), shuffle=True)
    came = bodies(sqs)
    assert came != sorted(came)
    assert sorted(came) == [str(number) for number in range(9)]


def test_a_waiting_receiver_gets_what_arrives_meanwhile(sqs, queues):
    sender = Thread(target=lambda: queues.send("events", "arrived"))
    sender.start()
    assert bodies(sqs, WaitTimeSeconds=20) == ["arrived"]
    sender.join()


def test_messages_are_forgotten_after_four_days(sqs, queues, clock):
    queues.send("events", "old")
    clock.at += timedelta(days=4)
    assert bodies(sqs) == []


def test_the_attributes_count_what_waits_is_in_hands_and_is_delayed(sqs, queues):
    for delay in (0, 0, 60):
        queues.send("events", "x", delay=timedelta(seconds=delay))
    receive(sqs, MaxNumberOfMessages=1)
    figures = sqs.perform("GetQueueAttributes", {"QueueUrl": URL, "AttributeNames": ["All"]})["Attributes"]
    names = ("", "NotVisible", "Delayed")
    assert [figures[f"ApproximateNumberOfMessages{name}"] for name in names] == ["1", "1", "1"]


def test_a_batch_says_which_deletions_failed(sqs, queues):
    queues.send("events", "one")
    good = {"Id": "a", "ReceiptHandle": receive(sqs)[0]["ReceiptHandle"]}
    answer = sqs.perform(
        "DeleteMessageBatch", {"QueueUrl": URL, "Entries": [good, {"Id": "b", "ReceiptHandle": "made up"}]}
    )
    assert answer["Successful"] == [{"Id": "a"}]
    assert [(failed["Id"], failed["Code"]) for failed in answer["Failed"]] == [("b", "ReceiptHandleIsInvalid")]


@pytest.mark.parametrize(
    ("operation", "parameters", "code"),
    [
        ("GetQueueUrl", {"QueueName": "nothing"}, "QueueDoesNotExist"),
        ("ReceiveMessage", {"QueueUrl": URL.replace("1111", "9999")}, "QueueDoesNotExist"),
        ("ReceiveMessage", {"QueueUrl": URL, "MaxNumberOfMessages": 11}, "InvalidParameterValue"),
        ("ReceiveMessage", {"QueueUrl": URL, "WaitTimeSeconds": 21}, "InvalidParameterValue"),
        ("GetQueueAttributes", {"QueueUrl": URL, "AttributeNames": ["Colour"]}, "InvalidAttributeName"),
        ("CreateQueue", {"QueueName": "no spaces"}, "InvalidParameterValue"),
        ("CreateQueue", {"QueueName": "events", "Attributes": {"VisibilityTimeout": "5"}}, "QueueNameExists"),
        ("DeleteMessageBatch", {"QueueUrl": URL, "Entries": []}, "EmptyBatchRequest"),
        (
            "DeleteMessageBatch",
            {"QueueUrl": URL, "Entries": [{"Id": "a", "ReceiptHandle": "receipt-1"}] * 2},
            "BatchEntryIdsNotDistinct",
        ),
        (
            "DeleteMessageBatch",
            {"QueueUrl": URL, "Entries": [{"Id": str(id), "ReceiptHandle": "receipt-1"} for id in range(11)]},
            "TooManyEntriesInBatchRequest",
        ),
        ("SendMessage", {}, "UnsupportedOperation"),
    ],
)
def test_a_call_that_sqs_would_refuse_is_refused(sqs, operation, parameters, code):
    with pytest.raises(SqsError) as refused:
        sqs.perform(operation, parameters)
    assert refused.value.code == code


def test_the_same_seed_gives_the_same_ids(clock):
    sent = [Queues(seed=3, now=clock.now) for _ in range(2)]
    for queues in sent:
        queues.create("events", visibility_timeout=timedelta(0), wait=timedelta(0))
    assert sent[0].send("events", "x") == sent[1].send("events", "x")
