"""One's webhooks and their deliveries. The secret of a webhook is shown on its page alone."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema

from console.api.bearer import ApiRequest
from console.api.keysets import Place, part_of
from console.api.operations import Resources
from console.api.problems import Problem
from console.api.row_fields import address
from integrations import webhooks as acts
from integrations.deliveries import send_again
from integrations.models import Delivery, Webhook
from integrations.notifications import TYPES

resources = Resources("Webhooks")


class WebhookBody(Schema, extra="forbid"):
    """Where notifications are sent, and which."""

    address: Annotated[str, Field(min_length=1, max_length=acts.LONGEST_URL, description="of https")]
    types: Annotated[list[str], Field(min_length=1, description=f"of {', '.join(TYPES)}")]


class WebhookAnswer(Schema):
    """A webhook: it is ``on``, ``failing`` since its last success, or ``off`` for a ``reason``, empty if its owner
    switched it off."""

    id: UUID
    url: Annotated[str, Field(validation_alias="pk"), address("webhook")]
    address: Annotated[str, Field(validation_alias="url")]
    types: list[str]
    state: Literal["on", "failing", "off"]
    reason: str
    failing_since: datetime | None
    created_at: datetime


class DeliveryAnswer(Schema):
    """One notification for one webhook. ``message`` is its ``webhook-id``; ``status`` is that of the last answer, null
    if none came; ``due_at`` is when it is tried next, null if it is not."""

    id: int
    message: Annotated[UUID, Field(validation_alias="notification_id")]
    type: Annotated[str, Field(validation_alias="notification.type")]
    state: Literal["waiting", "delivered", "failed"]
    attempts: int
    status: int | None
    error: str
    tried_at: datetime | None
    due_at: datetime | None


@resources.lists("/webhooks", "webhooks:read", WebhookAnswer, "A part of the list of webhooks, the latest first.")
def webhooks(request: ApiRequest, place: Query[Place]) -> dict[str, Any]:
    """List the webhooks of the token's owner, the latest first."""
    return part_of(request.user.webhooks.all(), place, newest="created_at")


@resources.acts("/webhooks", "webhooks:write", WebhookAnswer, status=201)
def add_webhook(request: ApiRequest, body: WebhookBody) -> Webhook:
    """Send notifications of these types to an address. The secret is shown by *New secret* on its page."""
    return acts.add_webhook(request.user, url=body.address, types=body.types)


@resources.reads("/webhooks/{uuid:id}", "webhooks:read", WebhookAnswer, url_name="webhook")
def webhook(request: ApiRequest, id: UUID) -> Webhook:
    """Return a webhook: its address, its types, and whether its notifications arrive."""
    return _own(request, id)


@resources.removes("/webhooks/{uuid:id}", "webhooks:write")
def remove_webhook(request: ApiRequest, id: UUID) -> None:
    """Remove a webhook with the list of its deliveries. Nothing more is sent to it."""
    acts.remove_webhook(_own(request, id), by=request.user)


@resources.lists(
    "/webhooks/{uuid:id}/deliveries",
    "webhooks:read",
    DeliveryAnswer,
    "A part of the list of deliveries, the oldest first.",
)
def deliveries(request: ApiRequest, id: UUID, place: Query[Place]) -> dict[str, Any]:
    """List the deliveries of a webhook in the last thirty days, done and waiting, the oldest first."""
    return part_of(_own(request, id).deliveries.select_related("notification"), place)


@resources.acts("/webhooks/{uuid:id}/test", "webhooks:write", DeliveryAnswer)
def test_webhook(request: ApiRequest, id: UUID) -> Delivery:
    """Send a webhook a notification of the type `test`."""
    return acts.send_test(_own(request, id, on=True))


@resources.acts("/webhooks/{uuid:id}/deliveries/{int:delivery}/send", "webhooks:write", DeliveryAnswer)
def send_delivery(request: ApiRequest, id: UUID, delivery: int) -> Delivery:
    """Send a notification to a webhook again, with the same id, whether it has arrived or not."""
    found = get_object_or_404(_own(request, id, on=True).deliveries.select_related("webhook"), pk=delivery)
    send_again(found)
    return Delivery.objects.select_related("notification").get(pk=found.pk)


def _own(request: ApiRequest, webhook_id: UUID, *, on: bool = False) -> Webhook:
    """Return a webhook of the token's owner. Raises Http404 for another one; with ``on``, refuses one that is off."""
    found = get_object_or_404(request.user.webhooks, pk=webhook_id)
    if on and found.off_since:
        raise Problem(409, acts.OFF)
    return found
