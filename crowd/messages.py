"""Messages to workers through their platform, the only address of theirs that is known."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.models import Worker
from annotation.workers import locked
from core.errors import CounterpartError, some_of
from core.events import record
from core.text import check_words
from crowd import channels
from crowd.models import Message, Outbox
from crowd.outbox import put

LONGEST = {"subject": 200, "text": 4096}
AGAIN = timedelta(minutes=10)


def write_to(workers: Sequence[Worker], *, subject: str, text: str, by: str) -> list[Message]:
    """Send the same text to each worker, one message each. If a platform cannot deliver one, its row says why.

    Raises CounterpartError, and sends nothing, for a missing or too long text, and for workers without a platform.
    """
    words = _checked(subject, text)
    addresses = {worker.pk: address_of(worker) for worker in workers}
    if lost := [str(worker) for worker in workers if addresses[worker.pk] is None]:
        raise CounterpartError(f"{len(lost)} workers have no platform to be written to: {some_of(lost)}.")
    with transaction.atomic():
        messages = [Message.objects.create(worker=worker, by=by, **words) for worker in workers]
        for message in messages:
            channel, environment = addresses[message.worker_id] or ("", "")
            record("written to", message.worker, actor=by, message=message.pk)
            put(Outbox.Call.MESSAGE, message, channel=channel, environment=environment)
    return messages


def write_once(worker: Worker, *, subject: str, text: str, by: str) -> tuple[Message, bool]:
    """Write to a worker, unless the same person sent them the same text in the last minutes, for example by a double
    click. Return the message, and whether it is new. Raises CounterpartError as ``write_to`` does."""
    words = _checked(subject, text)
    with transaction.atomic():
        locked(worker.pk)
        same = Message.objects.filter(worker=worker, by=by, **words)
        if sent := same.filter(at__gt=timezone.now() - AGAIN).last():
            return sent, False
        return write_to([worker], **words, by=by)[0], True


def address_of(worker: Worker) -> tuple[str, str] | None:
    """Return the platform and environment where a worker can be written to, the latest if there are several."""
    identity = worker.identities.filter(channel__in=channels.platforms()).order_by("-pk").first()
    return (identity.channel, identity.environment) if identity else None


def _checked(subject: str, text: str) -> dict[str, str]:
    return {
        "subject": check_words(subject, what="subject", at_most=LONGEST["subject"]),
        "text": check_words(text, what="message", at_most=LONGEST["text"]),
    }
