"""The lease of a release: one process writes a version's folder, and renews its lease of 8 seconds every 2 seconds."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Thread

from django.db import DatabaseError, connection

from core import clock
from dataset.models import ReleaseLease

logger = logging.getLogger(__name__)
SECONDS = 8


def take(folder: str) -> bool:
    """Take a lease that is free or was not renewed in time; return whether it was taken."""
    if ReleaseLease.objects.filter(folder=folder, until__lt=clock.now()).update(until=_until()):
        return True
    return ReleaseLease.objects.get_or_create(folder=folder, defaults={"until": _until()})[1]


@contextmanager
def held(folder: str) -> Iterator[None]:
    """Renew a taken lease until the body ends, then release it."""
    over = Event()

    def renew() -> None:
        try:
            while not over.wait(SECONDS / 4):
                _renew(folder)
        finally:
            connection.close()

    thread = Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        ReleaseLease.objects.filter(folder=folder).delete()


def _renew(folder: str) -> None:
    try:
        ReleaseLease.objects.filter(folder=folder).update(until=_until())
    except DatabaseError:
        logger.warning("the lease of %s could not be renewed", folder, exc_info=True)


def _until() -> datetime:
    return clock.now() + timedelta(seconds=SECONDS)
