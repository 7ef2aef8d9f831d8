"""Queues that keep messages as SQS does: at least once, hidden while somebody works on them, in no promised order."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from threading import Condition
from time import monotonic

from emulators.mturk.sqs.errors import SqsError

RETENTION = timedelta(days=4)
VISIBILITY_TIMEOUT = timedelta(seconds=30)
MOST_IN_FLIGHT = 120_000
LOOK_AGAIN = 0.05  # seconds of real time: the emulator's clock may be moved while somebody waits

Now = Callable[[], datetime]


@dataclass
class Message:
    """``visible_at``: hidden from every receiver before; ``receipt`` is the latest one given out."""

    id: str
    body: str
    sent_at: datetime
    visible_at: datetime
    receipt: str = ""
    receives: int = 0
    first_received_at: datetime | None = None

    @property
    def md5(self) -> str:
        return hashlib.md5(self.body.encode(), usedforsecurity=False).hexdigest()


@dataclass
class Queue:
    name: str
    created_at: datetime
    visibility_timeout: timedelta = VISIBILITY_TIMEOUT
    wait: timedelta = timedelta(0)
    messages: list[Message] = field(default_factory=list)

    def visible(self, now: datetime) -> list[Message]:
        return [message for message in self.messages if message.visible_at <= now]

    def waiting(self, now: datetime) -> tuple[int, int, int]:
        """Return how many messages are visible, in somebody's hands, and delayed."""
        hidden = [message for message in self.messages if message.visible_at > now]
        in_hands = sum(message.receives > 0 for message in hidden)
        return len(self.messages) - len(hidden), in_hands, len(hidden) - in_hands

    def forget_old(self, now: datetime) -> None:
        self.messages = [message for message in self.messages if message.sent_at + RETENTION > now]


class Queues:
    """Every queue of the account, in memory; hiding and forgetting follow the emulator's clock ``now``."""

    def __init__(self, *, seed: int, now: Now) -> None:
        self._random = Random(f"queues {seed}")
        self._now = now
        self._changed = Condition()
        self._queues: dict[str, Queue] = {}

    def create(self, name: str, *, visibility_timeout: timedelta, wait: timedelta) -> None:
        """Make a queue; one that is there with the same settings stays as it is. Raises SqsError otherwise."""
        with self._changed:
            queue = Queue(name, self._now(), visibility_timeout, wait)
            there = self._queues.setdefault(name, queue)
            if (there.visibility_timeout, there.wait) != (visibility_timeout, wait):
                raise SqsError("QueueNameExists", "A queue already exists with the same name and a different value.")

    def names(self) -> list[str]:
        with self._changed:
            return [*self._queues]

    @contextmanager
    def opened(self, name: str) -> Iterator[tuple[Queue, datetime]]:
        """Hold the queue called ``name`` as it stands at the emulator's now. Raises SqsError if there is none."""
        with self._changed:
            now = self._now()
            if name not in self._queues:
                raise SqsError("QueueDoesNotExist", "The specified queue does not exist.")
            self._queues[name].forget_old(now)
            yield self._queues[name], now

    def send(self, name: str, body: str, *, delay: timedelta = timedelta(0), shuffle: bool = False) -> str:
        """Add a message behind the others, or with ``shuffle`` somewhere among them, and return its id."""
        with self.opened(name) as (queue, now):
            message = Message(self._identifier(), body, now, now + delay)
            place = self._random.randint(0, len(queue.messages)) if shuffle else len(queue.messages)
            queue.messages.insert(place, message)
            self._changed.notify_all()
            return message.id

    def receive(self, name: str, *, most: int, hide: timedelta | None, wait: timedelta | None) -> list[Message]:
        """Give out up to ``most`` visible messages and hide them for ``hide``.

        While there is none, ``wait`` for one in real time. ``None`` stands for the queue's own setting.
        """
        with self.opened(name) as (queue, _):
            until = monotonic() + (queue.wait if wait is None else wait).total_seconds()
            while not queue.visible(self._now()) and (left := until - monotonic()) > 0:
                self._changed.wait(min(left, LOOK_AGAIN))
            return self._take(queue, most, queue.visibility_timeout if hide is None else hide)

    def delete(self, name: str, receipt: str) -> None:
        """Remove the message that the receipt was given for; a receipt that was replaced removes nothing."""
        with self.opened(name) as (queue, _):
            if not receipt.startswith("receipt-"):
                raise SqsError("ReceiptHandleIsInvalid", f'The input receipt handle "{receipt}" is not a valid one.')
            queue.messages = [message for message in queue.messages if message.receipt != receipt]

    def _take(self, queue: Queue, most: int, hide: timedelta) -> list[Message]:
        now = self._now()
        if queue.waiting(now)[1] >= MOST_IN_FLIGHT:
            raise SqsError("OverLimit", f"More than {MOST_IN_FLIGHT} messages are in flight in this queue.")
        taken = queue.visible(now)[:most]
        for message in taken:
            message.receipt = f"receipt-{self._identifier()}"
            message.receives += 1
            message.first_received_at = message.first_received_at or now
            message.visible_at = now + hide
        return taken

    def _identifier(self) -> str:
        digits = f"{self._random.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
