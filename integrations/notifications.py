"""Notifications for other programs: written in the transaction of a change, delivered once it has committed."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max

from core.work.committed_tasks import send_on_commit
from integrations.models import Delivery, Notification, Webhook

TYPES = {
    "job.finished": "a job has ended: it is done, failed or was cancelled",
    "round.published": "a round was opened for workers",
    "round.progress": "another tenth of a round's answer sets is filled",
    "round.filled": "all answer sets of a round are filled",
    "round.closed": "a round was closed",
    "round.halted": "no new worker comes to a round from its platform until a person acts",
    "assignment.flagged": "an assignment waits for a person to look at it",
    "aggregation.made": "the votes of a round were counted",
    "version.released": "a version was released",
    "run.scored": "a model was scored on a version",
    "ceiling.reached": "a round has no money left under its ceiling for its open seats",
}
DELIVER = "integrations.tasks.deliver"  # by its name, as the task is declared where it imports this
TEST = "test"
API = "/api/v1"
AT_ONCE = 1000  # numbered together


def notify(kind: str, path: str, **data: Any) -> Notification:
    """Notify webhooks of a change of the thing that the API has at ``path``: its ``id``, names and counts, as plain
    JSON. Call it in the transaction of the change.

    Never pass answers, platform ids of workers, labels of controls, or what one worker earned.
    """
    found = Notification.objects.create(type=kind, data={**data, "url": f"{settings.SITE_URL}{API}{path}"})
    listening = Webhook.objects.filter(off_since=None, owner__is_active=True)
    send_to([webhook for webhook in listening if kind in webhook.types], found)
    return found


def send_to(webhooks: list[Webhook], notification: Notification) -> None:
    """Send the notification to the webhooks once the transaction has committed."""
    for delivery in Delivery.objects.bulk_create(
        Delivery(webhook=webhook, notification=notification) for webhook in webhooks
    ):
        send_once_committed(delivery)


def send_once_committed(delivery: Delivery, *, after: timedelta = timedelta(0)) -> None:
    """Queue a delivery once the transaction has committed; it is tried ``after`` that time."""
    send_on_commit(DELIVER, delivery.pk, countdown=after.total_seconds())


def number_new() -> None:
    """Number the committed notifications: their places in the list of events.

    Places are given when the list is read, not when something happens: a transaction that commits late would put its
    notifications before places that a reader has passed.
    """
    try:
        while _number_some() == AT_ONCE:
            pass
    except IntegrityError:
        return  # another reader has just given these places


@transaction.atomic
def _number_some() -> int:
    last = Notification.objects.aggregate(last=Max("place"))["last"] or 0
    unread = Notification.objects.select_for_update().filter(place=None).exclude(type=TEST)
    new = list(unread.order_by("at", "pk")[:AT_ONCE])
    for place, one in enumerate(new, last + 1):
        one.place = place
    Notification.objects.bulk_update(new, ["place"])
    return len(new)
