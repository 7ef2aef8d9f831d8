"""Where requesters want to be told of what happens to a type of HITs, and test events."""

from typing import Any
from urllib.parse import urlsplit

from emulators.mturk.errors import TurkError, invalid_value
from emulators.mturk.hit_types import hit_type
from emulators.mturk.rows import Happening
from emulators.mturk.state import State

VERSIONS = ("2006-05-05", "2014-08-15")


def update_notification_settings(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Set where events of a HIT type go, or turn them on and off; a first specification turns them on."""
    type_id = hit_type(state, params["HITTypeId"]).id
    before = state.notifications.get(type_id, {})
    notification = params.get("Notification", before.get("Notification"))
    if notification is None or not {"Notification", "Active"} & params.keys():
        raise TurkError(
            f"The HIT type {type_id} has no notification specification; give a Notification.",
            code="ParameterValidationError",
        )
    _check(state, notification)
    active = params.get("Active", before.get("Active", True))
    state.notifications[type_id] = {"Notification": notification, "Active": active}
    return {}


def send_test_event_notification(state: State, params: dict[str, Any]) -> dict[str, Any]:
    """Send one event of a kind to the place that a specification names, whatever its EventTypes are."""
    _check(state, params["Notification"])
    state.happenings.append(Happening(params["TestEventType"], state.now, notification=params["Notification"]))
    return {}


def wanted_by(state: State, happening: Happening) -> dict[str, Any] | None:
    """Return the specification by which an event is sent, or None where nobody asked to be told."""
    if happening.notification:
        return happening.notification
    settings = state.notifications.get(happening.hit_type_id)
    if not settings or not settings["Active"]:
        return None
    notification: dict[str, Any] = settings["Notification"]
    return notification if happening.type in notification["EventTypes"] else None


def create_queue(state: State, *, queue: str, visibility_timeout: int, wait: int) -> dict[str, Any]:
    """Know a queue that events can be sent to; both figures are in seconds."""
    state.queues[queue] = visibility_timeout, wait
    return {}


def _check(state: State, notification: dict[str, Any]) -> None:
    transport, version = notification["Transport"], notification["Version"]
    if version not in VERSIONS:
        raise invalid_value("Notification.Version", version)
    if transport != "SQS":
        raise TurkError(
            f"Notifications by {transport} are not emulated; name an SQS queue.", code="ServiceFault", status=500
        )
    _, _, name = urlsplit(notification["Destination"]).path.rpartition("/")
    if name not in state.queues:
        raise TurkError(
            f"The queue {notification['Destination']} does not exist or may not be written to.",
            turk_code="InvalidTransportEndpoint",
        )
