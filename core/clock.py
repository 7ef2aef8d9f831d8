"""The clock of the site: every stored time, and every time that is compared with one, comes from here.

A lease that one computer writes is ended by another one, so that both have to read one clock: the database's. The
difference to the clock of this computer is measured when a connection opens, and by ``/readyz``.
"""

from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.db import DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.dispatch import receiver
from django.utils import timezone

LARGEST_SKEW = timedelta(seconds=5)  # between this computer and the database, for a computer that may serve

_skew = timedelta(0)  # of this process: the database's clock less the computer's


def now() -> datetime:
    """Return the time by the database's clock."""
    return timezone.now() + _skew


@receiver(connection_created)
def measure_skew(connection: Any = connection, **_: Any) -> timedelta:
    """Compare the database's clock with this computer's: positive if the computer is behind. ``now`` uses it from then
    on. Raises DatabaseError where the database cannot be read."""
    global _skew
    _skew = _skew_of(connection)
    return _skew


def _skew_of(connection: BaseDatabaseWrapper) -> timedelta:
    """Return the difference of a connection's clock to this computer's.

    The database reads its clock between our question and its answer, so that the difference lies in an interval. Zero,
    or else the known difference, is kept while it lies in there: a slow answer must not set two processes of one
    computer apart.
    """
    read = _postgresql_time if connection.vendor == "postgresql" else _queue_time
    asked = timezone.now()
    theirs = read(connection)
    answered = timezone.now()
    least = theirs - answered
    most = theirs - asked
    inside = [known for known in (timedelta(0), _skew) if least <= known <= most]
    return inside[0] if inside else (least + most) / 2


def _postgresql_time(connection: BaseDatabaseWrapper) -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def _queue_time(connection: BaseDatabaseWrapper) -> datetime:
    """SQLite has no clock. There the process that ends leases has the clock of the site. From its last
    heartbeat the others can see that they are behind, but not that they are ahead."""
    beats = apps.get_model("core", "Heartbeat")  # whose times come from here
    try:
        last = beats.objects.filter(pk=beats.QUEUE).values_list("at", flat=True).first()
    except DatabaseError:  # before migrate
        last = None
    return max(filter(None, (last, timezone.now())))
