"""Messages from the researcher to participants. Sending has an empty answer; messages are listed for 30 days."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from counterpart_emulators.prolific.errors import ProlificError, invalid
from counterpart_emulators.prolific.lifecycle import write_to
from counterpart_emulators.prolific.schemas import Some, Text
from counterpart_emulators.prolific.state import State
from counterpart_emulators.prolific.studies import find_study

KEPT_FOR = timedelta(days=30)


def send_message(state: State, *, recipient_id: str, body: Text, study_id: str) -> None:
    """Write to one participant."""
    send_messages(state, ids=[recipient_id], body=body, study_id=study_id)


def send_messages(state: State, *, ids: Some[str], body: Text, study_id: str) -> None:
    """Write the same to several participants."""
    find_study(state, study_id)
    if unknown := [id for id in ids if id not in state.participants]:
        raise invalid("ids", f"Participants not found: {', '.join(unknown)}.")
    for id in ids:
        write_to(state, id, study_id, body)


def list_messages(state: State, query: Mapping[str, str]) -> list[dict[str, Any]]:
    """List messages with one person, or since an instant, newest first."""
    user_id = query.get("user_id")
    since = state.now - KEPT_FOR
    if text := query.get("created_after"):
        try:
            since = max(since, datetime.fromisoformat(text))
        except (ValueError, TypeError) as error:
            raise invalid("created_after", f"{text} is not an instant with a time zone (ISO 8601).") from error
    elif user_id is None:
        raise ProlificError("Give user_id or created_after.")
    return [
        {
            "id": each.id,
            "sender_id": state.user_id,
            "body": each.body,
            "sent_at": each.sent_at,
            "type": "message",
            "channel_id": f"{state.user_id}-{each.participant_id}",
            "data": {"study_id": each.study_id},
        }
        for each in reversed(state.messages)
        if each.sent_at > since and user_id in (None, each.participant_id)
    ]
