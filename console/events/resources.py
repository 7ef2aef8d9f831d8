"""The list of events that webhooks deliver, for programs that missed some."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from ninja import Field, Query, Schema

from console.api.bearer import ApiRequest
from console.api.keysets import Place, part_of
from console.api.operations import Resources
from core.errors import CounterpartError
from integrations.models import Notification
from integrations.notifications import TYPES, number_new

resources = Resources("Events")
Type = Annotated[str, Field(max_length=30, description=f"one of {', '.join(TYPES)}; empty: all")]
ASKED = Query("", alias="type")


class EventAnswer(Schema):
    """Something that happened: ``id`` is the ``webhook-id`` of its deliveries, ``data`` names it and its address."""

    place: int
    id: UUID
    type: str
    timestamp: Annotated[datetime, Field(validation_alias="at")]
    data: dict[str, Any]


@resources.lists("/events", "events:read", EventAnswer, "A part of the list of events, the oldest first.")
def events(request: ApiRequest, place: Query[Place], kind: Type = ASKED) -> dict[str, Any]:
    """List what happened in the last thirty days, the oldest first. To go on later, send the `place` of the last event
    as `after`: none is left out."""
    if kind and kind not in TYPES:
        raise CounterpartError(f"Unknown type {kind!r}. Use one of {', '.join(TYPES)}.")
    number_new()
    rows = Notification.objects.exclude(place=None)
    return part_of(rows.filter(type=kind) if kind else rows, place, key="place")
