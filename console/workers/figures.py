"""What a worker's page shows of the platforms they came from."""

from dataclasses import dataclass

from annotation.models import Worker
from annotation.people.workers import mask_workers
from crowd.channels import CHANNELS, market_of
from crowd.models import Message


@dataclass(frozen=True)
class Sent:
    """A message to a worker, and why it was not delivered (empty if it was)."""

    message: Message
    failure: str


def origins_of(worker: Worker) -> list[str]:
    """Name the environments that a worker came from; for simulated workers, the name of their channel."""
    known = worker.identities.order_by("pk").values_list("channel", "environment")
    return [str(market_of(*place)) if place[0] in CHANNELS else place[0] for place in dict.fromkeys(known)]


def messages_to(worker: Worker) -> list[Sent]:
    """Return the messages to a worker, newest first."""
    rows = list(worker.messages.order_by("-pk")[:50])
    failures = mask_workers([row.failure for row in rows])
    return [Sent(row, failure) for row, failure in zip(rows, failures, strict=True)]
