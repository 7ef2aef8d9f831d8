"""Prolific's webhooks: whether an event is genuine, and the subscriptions that bring events."""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Mapping, Sequence

from core.site.environment import env
from crowd.channels.base import ChannelError
from crowd.channels.prolific.client import Client
from crowd.channels.prolific.workspaces import workspace_of

TYPES = ("submission.status.change", "study.status.change")
ID = "X-Event-ID"
TIMESTAMP = "X-Prolific-Request-Timestamp"
SIGNATURE = "X-Prolific-Request-Signature"


def secrets() -> list[str]:
    """Return the secrets that sign events: the current one and, for a day after a change, the one before."""
    return [secret for secret in env.list("PROLIFIC_HOOK_SECRETS", []) if secret]


def event_id(headers: Mapping[str, str], body: bytes, *, known: Sequence[str]) -> str:
    """Return the id of a genuine event. Raises ChannelError if no known secret has signed its timestamp and body.

    The signature is base64 of the HMAC-SHA256 of timestamp and raw body; parsed and re-encoded JSON would differ. The
    timestamp may be old: Prolific sends an event again for a day until it is received.
    """
    signed = headers.get(TIMESTAMP, "").encode() + body
    signature = headers.get(SIGNATURE, "").encode()
    # Compare with every secret, in constant time.
    valid = [b64encode(hmac.digest(secret.encode(), signed, hashlib.sha256)) for secret in known]
    fits = [hmac.compare_digest(each, signature) for each in valid]
    if not any(fits) or not headers.get(ID):
        raise ChannelError("This event is not signed with a secret of ours.", permanent=True)
    return headers[ID][:64]


def subscribe(client: Client, address: str) -> str:
    """Have events sent to an address, and return the new secret that signs them and replaces the former one.

    Earlier subscriptions of the address are replaced: those that are disabled or were never confirmed send nothing.
    """
    workspace = workspace_of(client)
    path = "hooks/subscriptions/"
    secret = str(client.post("hooks/secrets/", {"workspace_id": workspace})["value"])
    earlier = [
        row["id"]
        for is_enabled in ("true", "false")
        for row in client.rows(path, workspace_id=workspace, is_enabled=is_enabled)
        if row["target_url"] == address
    ]
    for kind in TYPES:
        body = {"workspace_id": workspace, "event_type": kind, "target_url": address}
        reply, headers = client.post_for_headers(path, body)
        made = reply.get("results", [reply])  # described in two ways: as all subscriptions, and as the new one
        (new,) = {row["id"] for row in made if (row["event_type"], row["target_url"]) == (kind, address)} - {*earlier}
        client.post(f"{path}{new}/", {"secret": headers["X-Hook-Secret"]})
    for row in earlier:
        client.delete(f"{path}{row}/")
    return secret
