"""Hints: a platform's events say that a sync would find something. Their contents are not used."""

from datetime import timedelta

from celery import current_app
from django.db import IntegrityError, transaction

from core import clock
from crowd.models import Hint, Posting

KEPT = timedelta(days=30)


def take_hint(channel: str, environment: str, *, external_id: str) -> bool:
    """Store an event, and sync the rounds of its account once that is committed. False: it was stored before."""
    try:
        with transaction.atomic():
            Hint.objects.create(channel=channel, environment=environment, external_id=external_id)
            unfinished = Posting.objects.unfinished().filter(channel=channel, environment=environment)
            for round_id in unfinished.order_by().values_list("round", flat=True).distinct():
                task = current_app.signature("crowd.tasks.sync_one", args=[round_id])
                # Robust: a sync each minute finds the same.
                transaction.on_commit(task.apply_async, robust=True)
    except IntegrityError:
        return False
    return True


def purge_hints() -> int:
    """Delete the hints that no platform sends again. Return their number."""
    deleted, _ = Hint.objects.filter(at__lt=clock.now() - KEPT).delete()
    return deleted
