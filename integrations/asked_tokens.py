"""Whether the token with which a program started a job still allows it."""

from typing import Any

from core.models import Job
from integrations.models import Token


def lost_token(job: Job, **_: Any) -> str:
    """Return why the token of the job does not allow it any more; empty if it does, or if a person started the job."""
    if "token" not in job.asked:
        return ""
    token = Token.objects.filter(pk=job.asked["token"]).first()
    if token is None:
        return "The token that asked for this was removed"
    if token.state != "valid":
        return f"The token {token} is {token.state}"
    scope = job.asked["scope"]
    return "" if scope is None or scope in token.scopes else f"The token {token} no longer has the scope {scope}"
