"""The clock: Celery's beat. Several may run; one at a time sends the scheduled tasks."""

import logging
from datetime import timedelta
from secrets import token_hex
from socket import gethostname
from typing import Any

from celery.beat import PersistentScheduler
from django.db import Error, connection
from django.db.models import Q

from core import clock
from core.models import Heartbeat

logger = logging.getLogger(__name__)

SILENT_FOR = timedelta(seconds=15)  # after which another clock takes over
PAUSE = 5.0  # seconds between two signs of a clock


def leads(name: str) -> bool:
    """Note a sign of this clock if it leads, or if the leading one has been silent; return whether it leads now."""
    now = clock.now()
    mine = Q(by=name) | Q(at__lt=now - SILENT_FOR)
    if Heartbeat.objects.filter(mine, pk=Heartbeat.CLOCK).update(by=name, at=now):
        return True
    _, first = Heartbeat.objects.get_or_create(pk=Heartbeat.CLOCK, defaults={"by": name, "at": now})
    return first


class Clock(PersistentScheduler):
    """Sends scheduled tasks while it leads. A second clock waits, and takes over when the first one is silent.

    Without the database no clock sends anything, as no task could do its work.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._name = f"{gethostname()[:60]} {token_hex(4)}"
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send a task that is due; return the seconds until the next tick."""
        try:
            if not leads(self._name):
                return PAUSE
        except Error as error:
            logger.warning("The clock waits for the database", exc_info=error)
            connection.close()  # The next tick opens another one.
            return PAUSE
        return min(super().tick(*args, **kwargs), PAUSE)
