"""The workspace that pays on Prolific, its project that holds our studies, its group of participants to whom they are
hidden, and its subscriptions to events, which are genuine if they are signed."""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from core.site.environment import env
from crowd.channels.base import ChannelError
from crowd.channels.prolific.client import Client

PROJECT = "Counterpart"
EXCLUDED = "Counterpart: no further work"
TYPES = ("submission.status.change", "study.status.change")
ID = "X-Event-ID"
TIMESTAMP = "X-Prolific-Request-Timestamp"
SIGNATURE = "X-Prolific-Request-Signature"


def workspace_of(client: Client) -> str:
    """Return the id of the workspace that pays: the configured one; the emulator has one only."""
    if client.environment.workspace:
        return client.environment.workspace
    first: dict[str, Any] = client.get("workspaces/")["results"][0]
    return str(first["id"])


def project_of(client: Client) -> str:
    """Return the id of the workspace's project of our studies; create it if it does not exist. A study that names no
    project goes to the first one of the account, where another workspace may pay."""
    path = f"workspaces/{workspace_of(client)}/projects/"
    known = sorted(project["id"] for project in client.rows(path) if project["title"] == PROJECT)
    return known[0] if known else str(client.post(path, {"title": PROJECT})["id"])


def exclusion_group(client: Client) -> str:
    """Return the id of the group of excluded participants; create it if it does not exist."""
    workspace = workspace_of(client)
    groups = client.rows("participant-groups/", workspace_id=workspace)
    known = sorted(group["id"] for group in groups if group["name"] == EXCLUDED)
    if known:
        return known[0]
    return str(client.post("participant-groups/", {"name": EXCLUDED, "workspace_id": workspace})["id"])


def exclude(client: Client, participant: str) -> None:
    """Put a participant into the group."""
    client.post(f"participant-groups/{exclusion_group(client)}/participants/", {"participant_ids": [participant]})


def readmit(client: Client, participant: str) -> None:
    """Take a participant out of the group."""
    client.delete(f"participant-groups/{exclusion_group(client)}/participants/", {"participant_ids": [participant]})


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
