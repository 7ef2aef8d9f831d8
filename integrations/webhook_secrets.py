"""Secrets of webhooks, and how notifications are signed with them (Standard Webhooks).

A secret is derived from the site's SECRET_KEY, the webhook's id and a number, and is not stored.
"""

import base64
import hashlib
import hmac
from datetime import timedelta

from core import clock
from core.web.signatures import keys_for
from integrations.models import Webhook

OLD_SIGNS = timedelta(days=1)  # as well as a new secret


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
