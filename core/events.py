"""Write an event in the same transaction as the change that it records."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Model

from core.models import Event


def subject_of(row: Model) -> str:
    """Return the name of a row in events: ``app.model:key``."""
    return f"{row._meta.label_lower}:{row.pk}"


def record(verb: str, subject: Model, *, actor: str, **data: Any) -> Event:
    """Add one event. ``data`` must be valid JSON and must not contain platform ids of workers."""
    return Event.objects.create(actor=actor, verb=verb, subject=subject_of(subject), data=data)


def record_each(verb: str, subjects: Iterable[Model], *, actor: str) -> None:
    """Add one event for each of many rows."""
    Event.objects.bulk_create(Event(actor=actor, verb=verb, subject=subject_of(subject)) for subject in subjects)
