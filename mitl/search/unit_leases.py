"""Leases of units: who is at work on a unit says so every two seconds, and a lost process is noticed after eight.

Two processes that work on the same unit all the same, as clocks differ, come to the same result: nothing is lost by it.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Thread

from django.db import DatabaseError, connection
from django.utils import timezone

from core.jobs import Cancelled
from core.progress import Progress
from mitl.models import UnitLease

logger = logging.getLogger(__name__)
SECONDS = 8


def take(name: str) -> bool:
    """Take a lease that nobody holds, or that was not renewed. False: somebody holds it."""
    if UnitLease.objects.filter(name=name, until__lt=timezone.now()).update(until=_until()):
        return True
    return UnitLease.objects.get_or_create(name=name, defaults={"until": _until()})[1]


@contextmanager
def held(name: str) -> Iterator[Progress]:
    """Renew a lease that was taken until the body ends, and give it back.

    Yields a progress for the body, which raises Cancelled where the lease was removed: nobody wants the result.
    """
    over, removed = Event(), Event()

    def renew() -> None:
        try:
            while not over.wait(SECONDS / 4) and not removed.is_set():
                _renew(name, removed)
        finally:
            connection.close()

    def progress(step: str, done: int, total: int | None) -> None:
        if removed.is_set():
            raise Cancelled

    thread = Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield progress
    finally:
        over.set()
        thread.join()
        UnitLease.objects.filter(name=name).delete()


def remove_leases(folder: str) -> None:
    """Remove the leases of a folder's units; whoever holds one stops."""
    UnitLease.objects.filter(name__startswith=f"{folder}/").delete()


def _renew(name: str, removed: Event) -> None:
    try:
        if not UnitLease.objects.filter(name=name).update(until=_until()):
            removed.set()
    except DatabaseError:
        logger.warning("the lease of %s could not be renewed", name, exc_info=True)


def _until() -> datetime:
    return timezone.now() + timedelta(seconds=SECONDS)
