"""Write to workers through the platform they came from; nothing else of theirs is known here."""

from collections.abc import Sequence

from django.db import transaction

from annotation.models import Worker
from annotation.wording import check_words
from core.errors import CounterpartError, some_of
from core.events import record
from crowd import channels
from crowd.models import Message, Outbox
from crowd.outbox import put

LONGEST = {"subject": 200, "text": 4096}


def write_to(workers: Sequence[Worker], *, subject: str, text: str, by: str) -> list[Message]:
    """Have the same words sent to each worker, one message each. What a platform could not deliver stands in its row.

    Raises CounterpartError for no or too many words, and for workers whom no platform can reach. Nothing is sent then.
    """
    words = checked(subject, text)
    addresses = {worker.pk: address_of(worker) for worker in workers}
    if lost := [str(worker) for worker in workers if addresses[worker.pk] is None]:
        raise CounterpartError(f"{len(lost)} workers cannot be written to on any platform: {some_of(lost)}.")
    with transaction.atomic():
        messages = [Message.objects.create(worker=worker, by=by, **words) for worker in workers]
        for message in messages:
            channel, environment = addresses[message.worker_id] or ("", "")
            record("written to", message.worker, actor=by, message=message.pk)
            put(Outbox.Call.MESSAGE, message, channel=channel, environment=environment)
    return messages


def checked(subject: str, text: str) -> dict[str, str]:
    """Return the words of a message. Raises CounterpartError for none, too many, and what no platform takes."""
    return {
        "subject": check_words(subject, what="subject", at_most=LONGEST["subject"]),
        "text": check_words(text, what="message", at_most=LONGEST["text"]),
    }


def address_of(worker: Worker) -> tuple[str, str] | None:
    """Return the channel and environment by which a worker can be written to, the latest where there are several."""
    remote = [name for name, channel in channels.CHANNELS.items() if channel.is_remote]
    identity = worker.identities.filter(channel__in=remote).order_by("-pk").first()
    return (identity.channel, identity.environment) if identity else None
