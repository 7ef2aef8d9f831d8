"""Webhooks: secrets, subscriptions, and the events that wait to be sent by ``courier``."""

import json
from collections.abc import Mapping
from datetime import timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from counterpart_emulators.prolific.errors import ProlificError, find, invalid, not_found
from counterpart_emulators.prolific.state import Event, State, Subscription

TYPES = {
    "submission.status.change": "The status of a submission changed.",
    "study.status.change": "The status of a study changed.",
    "study.progress.change": "The number of places taken in a study changed.",
    "study.has_high_return_rate": "Many submissions of a study were returned. The emulator never sends it.",
}
MINUTES = (1, 2, 5, 10, 30, 60, 120, 240, 240, 360, 360)  # between the 12 attempts, 23.8 hours in all
DISABLED_AFTER = timedelta(days=5)  # of failures only


def announce(state: State, event_type: str, resource_id: str, **more: Any) -> None:
    """Queue an event for every subscription to its type."""
    for hook in state.subscriptions.values():
        if hook.enabled and hook.event_type == event_type:
            # Compact, as Prolific's are: a signature over JSON that was serialised again does not fit.
            body = json.dumps({"event_type": event_type, "resource_id": resource_id, **more}, separators=(",", ":"))
            id = state.mint("event")
            state.events[id] = Event(id, hook.id, resource_id, body, created_at=state.now, due_at=state.now)


def due_events(state: State) -> list[tuple[Event, str]]:
    """Return the events to send now, oldest first, and where to."""
    hooks = state.subscriptions
    return [
        (each, hooks[each.subscription_id].target_url)
        for each in state.events.values()
        if each.status == "PENDING"
        and each.due_at <= state.now
        and each.subscription_id in hooks
        and hooks[each.subscription_id].enabled
    ]


def record_attempt(state: State, *, event_id: str, received: bool) -> dict[str, Any]:
    """Record that an event was sent: it was received, or is sent again later."""
    event = state.events[event_id]
    hook = state.subscriptions.get(event.subscription_id)
    event.attempts += 1
    if received:
        event.status = "SUCCEEDED"
    elif event.attempts > len(MINUTES):
        event.status = "FAILED"
    else:
        event.due_at = state.now + timedelta(minutes=MINUTES[event.attempts - 1])
    if hook is not None:
        hook.failing_since = None if received else hook.failing_since or state.now
        if hook.failing_since and state.now >= hook.failing_since + DISABLED_AFTER:
            hook.enabled = False
    return {"status": event.status}


def put_off(state: State, *, event_id: str, seconds: float) -> dict[str, Any]:
    """Send an event later than it is due."""
    state.events[event_id].due_at = state.now + timedelta(seconds=seconds)
    return {}


def list_event_types(state: State, query: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"event_type": name, "description": text} for name, text in TYPES.items()]


def create_secret(state: State, *, workspace_id: str) -> dict[str, Any]:
    """Create the workspace's secret; an earlier one is replaced."""
    require_workspace(state, workspace_id)
    secret = {"id": state.mint("secret"), "value": f"{state.draw('secret'):064x}", "workspace_id": workspace_id}
    state.secrets.append(secret)
    return secret


def list_subscriptions(state: State, query: Mapping[str, str]) -> list[dict[str, Any]]:
    wanted = query.get("is_enabled", "true").lower() != "false"
    return [_shown(state, each) for each in state.subscriptions.values() if each.enabled == wanted]


def create_subscription(state: State, *, workspace_id: str, event_type: str, target_url: str) -> dict[str, Any]:
    """Create a subscription, which is silent until it is confirmed with the text in the answer's X-Hook-Secret."""
    require_workspace(state, workspace_id)
    if event_type not in TYPES:
        raise invalid("event_type", f"{event_type} is not an event type; GET hooks/event-types/ lists them.")
    if not _is_near(target_url):
        raise invalid("target_url", "The emulator sends only to this machine, such as http://127.0.0.1:8000/.")
    if not state.secrets:
        raise ProlificError("Create a secret for the workspace before you create a subscription.")
    hook = Subscription(state.mint("subscription"), event_type, target_url, f"{state.draw('confirmation'):064x}")
    state.subscriptions[hook.id] = hook
    return _shown(state, hook) | {"X-Hook-Secret": hook.confirmation}


def confirm_subscription(state: State, *, subscription_id: str, secret: str) -> dict[str, Any]:
    hook = find(state.subscriptions, subscription_id, "Subscription")
    if secret != hook.confirmation:
        raise invalid("secret", "This is not the secret of the X-Hook-Secret header.")
    hook.confirmed = True
    hook.enabled = True
    return _shown(state, hook)


def change_subscription(state: State, *, subscription_id: str, is_enabled: bool) -> dict[str, Any]:
    """Disable a subscription, or enable one that was confirmed."""
    hook = find(state.subscriptions, subscription_id, "Subscription")
    if is_enabled and not hook.confirmed:
        raise invalid("is_enabled", "Confirm the subscription first.")
    hook.enabled = is_enabled
    hook.failing_since = None
    return _shown(state, hook)


def delete_subscription(state: State, *, subscription_id: str) -> None:
    del state.subscriptions[find(state.subscriptions, subscription_id, "Subscription").id]


def require_workspace(state: State, workspace_id: str) -> None:
    """Raise ProlificError for any workspace but the account's."""
    if workspace_id != state.workspace_id:
        raise not_found("Workspace", workspace_id)


def _is_near(url: str) -> bool:
    """Whether an address is on this machine."""
    parts = urlsplit(url)
    try:
        is_near = parts.hostname == "localhost" or ip_address(parts.hostname or "").is_loopback
    except ValueError:
        is_near = False
    return is_near and parts.scheme in ("http", "https")


def _shown(state: State, hook: Subscription) -> dict[str, Any]:
    return {
        "id": hook.id,
        "event_type": hook.event_type,
        "target_url": hook.target_url,
        "is_enabled": hook.enabled,
        "workspace_id": state.workspace_id,
    }
