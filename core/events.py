"""Write an event beside the change of state that it tells of, in the same transaction."""

from typing import Any

from django.db.models import Model

from core.models import Event


def subject_of(row: Model) -> str:
    """Name a row as the journal does: ``app.model:key``."""
    return f"{row._meta.label_lower}:{row.pk}"


def record(verb: str, subject: Model, *, actor: str, **data: Any) -> Event:
    """Add one event. ``data`` must fit in JSON and hold no platform id of a worker."""
    return Event.objects.create(actor=actor, verb=verb, subject=subject_of(subject), data=data)
