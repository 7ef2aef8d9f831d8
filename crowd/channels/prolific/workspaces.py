"""The workspace that pays on Prolific, its project that holds our studies, and its group of participants to whom they
are hidden. Every call may be made twice."""

from typing import Any

from crowd.channels.prolific.client import Client

PROJECT = "Counterpart"
EXCLUDED = "Counterpart: no further work"


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
