"""Deliveries of notifications to webhooks: claimed, sent, and retried after failures (Standard Webhooks)."""

import json
from datetime import UTC, datetime, timedelta

from celery import current_app, shared_task
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from core import clock
from core.errors import CounterpartError
from integrations.models import Delivery, Notification, Webhook
from integrations.notifications import DELIVER, send_once_committed
from integrations.webhooks import may_have_webhooks, require_on, signatures_of, switch_off

SECONDS = 10  # of one try
WAITS = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=10),
)
"""Waits after each failed try; after the last wait there is one more try."""
RESTS = WAITS[:2]
"""Pauses of a webhook after its first failure, and after later ones: an address that hangs would block the queue."""
CLAIM = timedelta(minutes=2)  # after which a try without an outcome is repeated
GIVEN_UP = timedelta(days=5)  # without a success
GONE = 410
KEPT = timedelta(days=30)
AT_ONCE = 100  # sent to the queue together
PURGED_AT_ONCE = 1000


@shared_task(name=DELIVER)
def deliver(pk: int) -> None:
    """Try one delivery, if it is due and no other process is trying it."""
    delivery = _claim(pk)
    if delivery is None:
        return
    status, error = _send(delivery)
    if error:
        _fail(delivery, status, error)
    else:
        _succeed(delivery, status)


def send_due() -> int:
    """Send the deliveries that are due to the queue; return how many. Safe to repeat."""
    due = list(_due().order_by("due_at").values_list("pk", flat=True)[:AT_ONCE])
    for pk in due:
        current_app.signature(DELIVER, args=[pk]).apply_async()
    return len(due)


def send_again(delivery: Delivery) -> None:
    """Try a delivery at once, and retry it as if it were new. Raises CounterpartError if its webhook is off."""
    with transaction.atomic():
        require_on(delivery.webhook)
        again = {"state": Delivery.State.WAITING, "attempts": 0, "due_at": clock.now()}
        Delivery.objects.filter(pk=delivery.pk).update(**again)
        send_once_committed(delivery)


def purge_notifications() -> int:
    """Remove old notifications with their deliveries; return how many. The one with the last place stays: places are
    counted on from it."""
    last = Notification.objects.exclude(place=None).order_by("-place").values_list("pk", flat=True)[:1]
    old = Notification.objects.filter(at__lt=clock.now() - KEPT).exclude(pk__in=list(last))
    purged = list(old.values_list("pk", flat=True)[:PURGED_AT_ONCE])
    Notification.objects.filter(pk__in=purged).delete()
    return len(purged)


def _due() -> QuerySet[Delivery]:
    now = clock.now()
    is_ready = Q(webhook__rests_until=None) | Q(webhook__rests_until__lte=now)
    on = {"webhook__off_since": None, "webhook__owner__is_active": True}
    return Delivery.objects.filter(is_ready, state=Delivery.State.WAITING, due_at__lte=now, **on)


def _claim(pk: int) -> Delivery | None:
    """Return the delivery if it is due and no other process has claimed it. It is due again if this process dies."""
    found = _due().filter(pk=pk).select_related("webhook__owner", "notification").first()
    if found is None:
        return None
    if not may_have_webhooks(found.webhook.owner):
        switch_off(found.webhook, reason="Your role does not allow webhooks any more.")
        return None
    now = clock.now()
    mine = Delivery.objects.filter(pk=pk, state=found.state, attempts=found.attempts, due_at=found.due_at)
    if not mine.update(attempts=F("attempts") + 1, due_at=now + CLAIM, tried_at=now):
        return None
    found.attempts += 1
    return found


def _send(delivery: Delivery) -> tuple[int | None, str]:
    """Return the status of the answer, None without one, and why it is a failure in one line; empty on success."""
    from core.web.public_network import post  # with httpx, which takes a fifth of a second

    sent = delivery.notification
    happened = sent.at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    body = json.dumps({"type": sent.type, "timestamp": happened, "data": sent.data}).encode()  # the same at each try
    message = str(sent.pk)
    at = int(datetime.now(UTC).timestamp())
    headers = {
        "Content-Type": "application/json",
        "webhook-id": message,
        "webhook-timestamp": str(at),
        "webhook-signature": signatures_of(delivery.webhook, message, at, body),
    }
    try:
        status = post(delivery.webhook.url, body, headers=headers, seconds=SECONDS)
    except CounterpartError as error:
        return None, str(error)[:200]
    return status, "" if 200 <= status < 300 else f"The answer was {status}."


def _mine(delivery: Delivery) -> QuerySet[Delivery]:
    return Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.WAITING, attempts=delivery.attempts)


@transaction.atomic
def _succeed(delivery: Delivery, status: int | None) -> None:
    _mine(delivery).update(state=Delivery.State.DELIVERED, due_at=None, status=status, error="")
    failing = Webhook.objects.filter(pk=delivery.webhook_id).exclude(failures=0)
    failing.update(failing_since=None, failures=0, rests_until=None)


@transaction.atomic
def _fail(delivery: Delivery, status: int | None, error: str) -> None:
    now = clock.now()
    wait = WAITS[delivery.attempts - 1] if delivery.attempts <= len(WAITS) else None
    ended = {"state": Delivery.State.WAITING, "due_at": now + wait} if wait else {"state": "failed", "due_at": None}
    if not _mine(delivery).update(status=status, error=error, **ended):
        return
    failing = Webhook.objects.filter(pk=delivery.webhook_id)
    failing.update(failures=F("failures") + 1, failing_since=Coalesce("failing_since", now))
    webhook = failing.get()
    failing.update(rests_until=now + RESTS[min(webhook.failures, len(RESTS)) - 1])
    if status == GONE:
        switch_off(webhook, reason="It answered that it is gone (410).")
    elif webhook.failing_since and webhook.failing_since <= now - GIVEN_UP:
        switch_off(webhook, reason="It has failed for five days.")
    elif wait == WAITS[0]:
        send_once_committed(delivery, after=wait)
