"""The participant group of those who see no study of ours, and participants' ids. Every call may be made twice."""

from annotation.models import Worker, WorkerIdentity
from crowd.channels.base import ChannelError
from crowd.channels.prolific.client import Client
from crowd.channels.prolific.workspaces import workspace_of

EXCLUDED = "Counterpart: no further work"


def exclusion_group(client: Client) -> str:
    """Return the id of the group of those who see no study of ours; create it if it does not exist."""
    workspace = workspace_of(client)
    groups = client.rows("participant-groups/", workspace_id=workspace)
    known = sorted(group["id"] for group in groups if group["name"] == EXCLUDED)
    return known[0] if known else str(client.post("participant-groups/", _named(workspace))["id"])


def exclude(client: Client, participant: str) -> None:
    """Put a participant into the group."""
    client.post(f"participant-groups/{exclusion_group(client)}/participants/", {"participant_ids": [participant]})


def readmit(client: Client, participant: str) -> None:
    """Take a participant out of the group."""
    client.delete(f"participant-groups/{exclusion_group(client)}/participants/", {"participant_ids": [participant]})


def participant_of(worker: Worker, environment: str) -> str:
    """Return the worker's id on Prolific. Raises ChannelError if there is none, or it was erased."""
    known = WorkerIdentity.objects.filter(worker=worker, channel="prolific", environment=environment)
    if found := known.values_list("external_id", flat=True).first():
        return str(found)
    raise ChannelError(
        f"Worker {worker} has no id on Prolific's {environment}. It may have been erased.", permanent=True
    )


def _named(workspace: str) -> dict[str, str]:
    return {"name": EXCLUDED, "workspace_id": workspace}
