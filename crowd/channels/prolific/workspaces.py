"""The workspace that pays on Prolific, and its project that holds our studies. Every call may be made twice."""

from typing import Any

from crowd.channels.prolific.client import Client

PROJECT = "Counterpart"


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
