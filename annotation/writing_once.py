"""Write to one worker from a page, where a button may be pressed twice."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotation.models import Worker
from annotation.workers import locked
from annotation.writing import checked, write_to
from crowd.models import Message

AGAIN = timedelta(minutes=10)


def write_once(worker: Worker, *, subject: str, text: str, by: str) -> tuple[Message, bool]:
    """Write to a worker unless the same person sent them the same words a moment ago; returns the message, and whether
    it is new. Raises CounterpartError as ``write_to`` does."""
    words = checked(subject, text)
    with transaction.atomic():
        locked(worker.pk)
        same = Message.objects.filter(worker=worker, by=by, **words)
        if sent := same.filter(at__gt=timezone.now() - AGAIN).last():
            return sent, False
        return write_to([worker], **words, by=by)[0], True
