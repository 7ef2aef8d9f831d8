"""Exclusions: give a worker no more HITs, and let them in again. Work done stays paid."""

from django.db import transaction
from django.utils import timezone

from annotation.calls import want_call
from annotation.models import Exclusion, Worker
from annotation.wording import check_words
from core.errors import CounterpartError
from core.events import record


def exclude(worker: Worker, *, reason: str, by: str) -> Exclusion:
    """Shut a worker out of all our rounds, here and on the platforms that know them; what they hold they may finish.

    Raises CounterpartError without a reason, and for somebody who is excluded already.
    """
    reason = check_words(reason, what="reason", at_most=2_000)
    with transaction.atomic():
        standing = Exclusion.objects.filter(worker=worker, lifted_at=None)
        if standing.exists():
            raise CounterpartError(f"Worker {worker} is excluded already; lift that first to give another reason.")
        exclusion = Exclusion.objects.create(worker=worker, reason=reason, by=by)
        record("excluded from further work", worker, actor=by, reason=reason)
        want_call(exclusion)
    return exclusion


def readmit(worker: Worker, *, by: str) -> Exclusion:
    """Lift a worker's exclusion. Raises CounterpartError for somebody who is not excluded."""
    with transaction.atomic():
        exclusion = Exclusion.objects.select_for_update().filter(worker=worker, lifted_at=None).first()
        if exclusion is None:
            raise CounterpartError(f"Worker {worker} is not excluded.")
        exclusion.lifted_at = timezone.now()
        exclusion.save(update_fields=["lifted_at"])
        record("readmitted", worker, actor=by)
        want_call(exclusion)
    return exclusion
