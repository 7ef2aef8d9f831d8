"""The operations of SQS that a reader of notifications needs, over ``Queues``: dicts in, dicts out."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from emulators.mturk.sqs.errors import SqsError
from emulators.mturk.sqs.queues import RETENTION, VISIBILITY_TIMEOUT, Message, Queue, Queues
from emulators.mturk.world import World

Parameters = Mapping[str, Any]
Answer = dict[str, Any]

MOST_MESSAGES = 10
LONGEST_WAIT = 20
LONGEST_HIDING = 43_200
ACCOUNT = "111122223333"
SENDER = "mturk-requester.amazonaws.com"


class Sqs:
    """One account's queues below ``address``, the emulator's own URL; those that are made are noted in the world."""

    def __init__(self, world: World, queues: Queues, *, address: Callable[[], str]) -> None:
        self._world = world
        self._queues = queues
        self._address = address
        self._operations: dict[str, Callable[[Parameters], Answer]] = {
            "CreateQueue": self._create,
            "GetQueueUrl": self._url,
            "GetQueueAttributes": self._attributes,
            "ReceiveMessage": self._receive,
            "DeleteMessage": self._delete,
            "DeleteMessageBatch": self._delete_batch,
        }

    def perform(self, operation: str, parameters: Parameters) -> Answer:
        """Return the operation's answer in the model's shape. Raises SqsError."""
        if operation not in self._operations:
            emulated = ", ".join(self._operations)
            raise SqsError("UnsupportedOperation", f"{operation} is not emulated; these operations are: {emulated}.")
        return self._operations[operation](parameters)

    def url_of(self, name: str) -> str:
        return f"{self._address()}/{ACCOUNT}/{name}"

    def name_at(self, url: str) -> str:
        """Return the name of the queue at an address of this account. Raises SqsError if that is no queue of ours."""
        path = urlsplit(url).path.strip("/").split("/")
        if len(path) != 2 or path[0] != ACCOUNT or path[1] not in self._queues.names():
            raise SqsError("QueueDoesNotExist", "The specified queue does not exist.")
        return path[1]

    def _create(self, parameters: Parameters) -> Answer:
        name = parameters["QueueName"]
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", name):
            raise SqsError("InvalidParameterValue", "Queue names have 1 to 80 letters, digits, hyphens or underscores.")
        given = parameters.get("Attributes", {})
        hide = _seconds(given, "VisibilityTimeout", int(VISIBILITY_TIMEOUT.total_seconds()), LONGEST_HIDING)
        wait = _seconds(given, "ReceiveMessageWaitTimeSeconds", 0, LONGEST_WAIT)
        self._queues.create(name, visibility_timeout=hide, wait=wait)
        seconds = {"visibility_timeout": int(hide.total_seconds()), "wait": int(wait.total_seconds())}
        self._world.act("create_queue", queue=name, **seconds)
        return {"QueueUrl": self.url_of(name)}

    def _url(self, parameters: Parameters) -> Answer:
        return {"QueueUrl": self.url_of(self.name_at(f"/{ACCOUNT}/{parameters['QueueName']}"))}

    def _attributes(self, parameters: Parameters) -> Answer:
        with self._queues.opened(self.name_at(parameters["QueueUrl"])) as (queue, now):
            known = self._figures(queue, now)
        asked = parameters.get("AttributeNames", [])
        if unknown := [name for name in asked if name != "All" and name not in known]:
            raise SqsError("InvalidAttributeName", f"Unknown Attribute {unknown[0]}.")
        return {"Attributes": known if "All" in asked else {name: known[name] for name in asked}}

    def _figures(self, queue: Queue, now: datetime) -> dict[str, str]:
        visible, in_hands, delayed = queue.waiting(now)
        created = str(int(queue.created_at.timestamp()))
        return {
            "ApproximateNumberOfMessages": str(visible),
            "ApproximateNumberOfMessagesNotVisible": str(in_hands),
            "ApproximateNumberOfMessagesDelayed": str(delayed),
            "CreatedTimestamp": created,
            "LastModifiedTimestamp": created,
            "VisibilityTimeout": str(int(queue.visibility_timeout.total_seconds())),
            "ReceiveMessageWaitTimeSeconds": str(int(queue.wait.total_seconds())),
            "MessageRetentionPeriod": str(int(RETENTION.total_seconds())),
            "QueueArn": f"arn:aws:sqs:us-east-1:{ACCOUNT}:{queue.name}",
        }

    def _receive(self, parameters: Parameters) -> Answer:
        most = parameters.get("MaxNumberOfMessages", 1)
        if not 1 <= most <= MOST_MESSAGES:
            raise SqsError("InvalidParameterValue", f"MaxNumberOfMessages must be 1 to {MOST_MESSAGES}, not {most}.")
        hide = _seconds(parameters, "VisibilityTimeout", None, LONGEST_HIDING)
        wait = _seconds(parameters, "WaitTimeSeconds", None, LONGEST_WAIT)
        name = self.name_at(parameters["QueueUrl"])
        asked = {*parameters.get("AttributeNames", []), *parameters.get("MessageSystemAttributeNames", [])}
        taken = self._queues.receive(name, most=most, hide=hide, wait=wait)
        return {"Messages": [_given_out(message, asked) for message in taken]} if taken else {}

    def _delete(self, parameters: Parameters) -> Answer:
        self._queues.delete(self.name_at(parameters["QueueUrl"]), parameters["ReceiptHandle"])
        return {}

    def _delete_batch(self, parameters: Parameters) -> Answer:
        name, entries = self.name_at(parameters["QueueUrl"]), parameters["Entries"]
        _check_batch([entry["Id"] for entry in entries])
        answer: Answer = {"Successful": [], "Failed": []}
        for entry in entries:
            try:
                self._queues.delete(name, entry["ReceiptHandle"])
                answer["Successful"].append({"Id": entry["Id"]})
            except SqsError as error:
                failed = {"Id": entry["Id"], "SenderFault": True, "Code": error.code, "Message": error.message}
                answer["Failed"].append(failed)
        return answer


def _given_out(message: Message, asked: set[str]) -> Answer:
    first = message.first_received_at or message.sent_at
    attributes = {
        "SenderId": SENDER,
        "SentTimestamp": _milliseconds(message.sent_at),
        "ApproximateReceiveCount": str(message.receives),
        "ApproximateFirstReceiveTimestamp": _milliseconds(first),
    }
    wanted = {name: value for name, value in attributes.items() if "All" in asked or name in asked}
    said = {"MessageId": message.id, "ReceiptHandle": message.receipt, "MD5OfBody": message.md5, "Body": message.body}
    return {**said, "Attributes": wanted} if wanted else said


def _check_batch(ids: list[str]) -> None:
    if not ids:
        raise SqsError("EmptyBatchRequest", "The batch request contains no entries.")
    if len(ids) > MOST_MESSAGES:
        raise SqsError("TooManyEntriesInBatchRequest", f"Maximum number of entries per request are {MOST_MESSAGES}.")
    if twice := [id for id, times in Counter(ids).items() if times > 1]:
        raise SqsError("BatchEntryIdsNotDistinct", f"Id {twice[0]} repeated.")


def _seconds(given: Parameters, name: str, default: int | None, longest: int) -> Any:
    """Return the number of seconds under ``name`` as a timedelta; attributes of a queue come as strings."""
    value = given.get(name, default)
    if value is None:
        return None
    if not str(value).isdigit() or int(value) > longest:
        raise SqsError("InvalidParameterValue", f"Value {value} for parameter {name} is invalid: 0 to {longest}.")
    return timedelta(seconds=int(value))


def _milliseconds(instant: datetime) -> str:
    return str(round(instant.timestamp() * 1000))
