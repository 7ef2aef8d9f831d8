"""Webhooks: added, removed and tested by their owners, switched off by them or by the site; their secrets.

A secret is derived from the site's SECRET_KEY, the webhook's id and a number, and is not stored. Notifications are
signed with it (Standard Webhooks).
"""

import base64
import hashlib
import hmac
import logging
import re
from collections.abc import Sequence
from datetime import timedelta
from smtplib import SMTPException
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import F

from core import clock
from core.errors import CounterpartError, some_of
from core.events import record
from core.text import counted
from core.web.signatures import keys_for
from integrations.models import Delivery, Notification, Webhook
from integrations.notifications import API, TEST, TYPES, send_to

logger = logging.getLogger(__name__)

MOST = 20  # of one owner
LONGEST_URL = 500
OLD_SIGNS = timedelta(days=1)  # a secret, as well as the new one
HOST = re.compile(r"[a-z0-9.-]+|[0-9a-f.]*:[0-9a-f.:]+")
"""A name, with one of other letters as ``xn--…``, or an address of IPv4 or IPv6."""
OFF = "The webhook is off. Switch it on first."
MAY = ("hits.launch_round", "annotation.decide_assignment")


def may_have_webhooks(user: User) -> bool:
    """Whether the user may have webhooks: active, and a researcher or a reviewer."""
    return any(user.has_perm(permission) for permission in MAY)


def add_webhook(owner: User, *, url: str, types: Sequence[str]) -> Webhook:
    """Add a webhook: an address that gets notifications of these types.

    Raises CounterpartError for an address that is not of https, no types, unknown types, and too many webhooks.
    """
    check_url(url)
    if not types:
        raise CounterpartError("No type of notification is chosen. Choose at least one.")
    if unknown := [kind for kind in types if kind not in TYPES]:
        raise CounterpartError(f"{counted(len(unknown), 'unknown type')}: {some_of(unknown)}.")
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=owner.pk)
        if owner.webhooks.count() >= MOST:
            raise CounterpartError(f"You have {MOST} webhooks, the most that one account may have. Remove one first.")
        chosen = [kind for kind in TYPES if kind in types]
        webhook = Webhook.objects.create(owner=owner, url=url, types=chosen)
        record("webhook added", webhook, actor=owner.get_username(), name=webhook.host, types=", ".join(chosen))
    return webhook


def check_url(url: str) -> None:
    """Raise CounterpartError for an address that cannot get notifications."""
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme == "https" and HOST.fullmatch(parts.hostname or "") and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable or not url.isprintable() or not url.isascii() or " " in url:
        raise CounterpartError(f"Invalid address {url[:80]!r}: write it as https://example.org/counterpart.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise CounterpartError("The address holds a user name, a password or a fragment (#…). Leave it out.")
    if len(url) > LONGEST_URL:
        raise CounterpartError(f"The address has {len(url)} characters. Use at most {LONGEST_URL}.")


def remove_webhook(webhook: Webhook, *, by: User) -> None:
    """Remove a webhook with its deliveries. Repeating it changes nothing."""
    with transaction.atomic():
        record("webhook removed", webhook, actor=by.get_username(), name=webhook.host)
        if not Webhook.objects.filter(pk=webhook.pk).delete()[0]:
            transaction.set_rollback(True)


def renew_secret(webhook: Webhook, *, by: User) -> bool:
    """Sign with a new secret, and for a day with the old one as well; False if it was renewed meanwhile."""
    with transaction.atomic():
        unchanged = Webhook.objects.filter(pk=webhook.pk, generation=webhook.generation)
        if not unchanged.update(generation=F("generation") + 1, rotated_at=clock.now()):
            return False
        record("webhook secret changed", webhook, actor=by.get_username(), name=webhook.host)
    return True


def switch_on(webhook: Webhook, *, by: User) -> bool:
    """Send notifications to a webhook again from now on; False if it is on."""
    with transaction.atomic():
        off = Webhook.objects.filter(pk=webhook.pk, off_since__isnull=False)
        if not off.update(off_since=None, reason="", failing_since=None, failures=0, rests_until=None):
            return False
        record("webhook on", webhook, actor=by.get_username(), name=webhook.host)
    return True


def switch_off(webhook: Webhook, *, by: User | None = None, reason: str = "") -> bool:
    """Send nothing more to a webhook, not even what waits; False if it is off. Without ``by`` the site does so, and
    mails its owner the ``reason``."""
    with transaction.atomic():
        if not Webhook.objects.filter(pk=webhook.pk, off_since=None).update(off_since=clock.now(), reason=reason):
            return False
        waiting = Delivery.objects.filter(webhook=webhook, state=Delivery.State.WAITING)
        waiting.update(state=Delivery.State.FAILED, due_at=None, error="The webhook was switched off.")
        record("webhook off", webhook, actor=str(by or "delivery"), name=webhook.host, reason=reason)
        if by is None:
            transaction.on_commit(lambda: _mail_owner(webhook, reason), robust=True)
    return True


def send_test(webhook: Webhook) -> Delivery:
    """Send a webhook a notification of the type ``test``. Raises CounterpartError if it is off."""
    with transaction.atomic():
        require_on(webhook)
        data = {"id": str(webhook.pk), "url": f"{settings.SITE_URL}{API}/webhooks/{webhook.pk}"}
        send_to([webhook], sent := Notification.objects.create(type=TEST, data=data))
        return sent.deliveries.get()


def require_on(webhook: Webhook) -> None:
    """End the pause of a webhook after failures: it gets notifications at once. Raises CounterpartError if off."""
    if not Webhook.objects.filter(pk=webhook.pk, off_since=None).update(rests_until=None):
        raise CounterpartError(OFF)


def _mail_owner(webhook: Webhook, reason: str) -> None:
    if not settings.EMAIL_HOST or not webhook.owner.email:
        return
    words = f"Counterpart sends nothing more to your webhook {webhook.host}: {reason}\n\nSee {settings.SITE_URL}\n"
    try:
        send_mail("Counterpart: a webhook was switched off", words, None, [webhook.owner.email])
    except (OSError, SMTPException) as error:
        logger.warning("mail to the owner of webhook %s failed: %s", webhook.pk, error)


def secret_of(webhook: Webhook) -> str:
    """Return the secret that its receiver checks with, as ``whsec_`` and base64."""
    return "whsec_" + base64.b64encode(_secrets(webhook, webhook.generation)[0]).decode()


def signatures_of(webhook: Webhook, message: str, at: int, body: bytes) -> str:
    """Return the header ``webhook-signature`` of a message sent at a time in seconds: a signature by its secret, for a
    day by the one before, and by what both were under each of SECRET_KEY_FALLBACKS."""
    generations = [webhook.generation]
    if webhook.rotated_at and webhook.rotated_at > clock.now() - OLD_SIGNS:
        generations.append(webhook.generation - 1)
    signed = f"{message}.{at}.".encode() + body
    macs = [
        hmac.new(secret, signed, hashlib.sha256).digest()
        for generation in generations
        for secret in _secrets(webhook, generation)
    ]
    return " ".join(f"v1,{base64.b64encode(mac).decode()}" for mac in macs)


def _secrets(webhook: Webhook, generation: int) -> list[bytes]:
    return keys_for("integrations.webhook", f"{webhook.pk} {generation}")
