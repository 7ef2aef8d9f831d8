from typing import Any

from django.apps import AppConfig


class IntegrationsConfig(AppConfig):
    name = "integrations"

    event_sentences = {
        "token made": "{who} made {what} with the scopes {scopes}",
        "token revoked": "{who} revoked {what}",
        "webhook added": "{who} added {what}, which gets {types}",
        "webhook removed": "{who} removed {what}",
        "webhook secret changed": "{who} made a new secret of {what}",
        "webhook on": "{who} switched {what} on",
        "webhook off": "{who} switched {what} off",
    }

    def ready(self) -> None:
        from core.models import Job
        from core.work.authority import asked_again
        from core.work.jobs import ended
        from integrations.notifications import notify

        def notify_of_end(job: Job, **_: Any) -> None:
            notify("job.finished", f"/jobs/{job.pk}", id=str(job.pk), task=job.task, state=str(job.state))

        asked_again.connect(lost_token, dispatch_uid="ask for tokens of jobs")
        ended.connect(notify_of_end, dispatch_uid="notify of ended jobs", weak=False)


def lost_token(job: Any, **_: Any) -> str:
    """Return why the token of the job does not allow it any more; empty if it does, or if a person started the job."""
    from integrations.models import Token

    if "token" not in job.asked:
        return ""
    token = Token.objects.filter(pk=job.asked["token"]).first()
    if token is None:
        return "The token that asked for this was removed"
    if token.state != "valid":
        return f"The token {token} is {token.state}"
    scope = job.asked["scope"]
    return "" if scope is None or scope in token.scopes else f"The token {token} no longer has the scope {scope}"
