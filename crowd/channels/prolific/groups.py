"""The group of participants to whom our studies are hidden. Every call may be made twice."""

from crowd.channels.prolific.client import Client
from crowd.channels.prolific.workspaces import workspace_of

EXCLUDED = "Counterpart: no further work"


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
