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
        from integrations.asked_tokens import lost_token
        from integrations.notifications import notify

        def notify_of_end(job: Job, **_: Any) -> None:
            notify("job.finished", f"/jobs/{job.pk}", id=str(job.pk), task=job.task, state=str(job.state))

        asked_again.connect(lost_token, dispatch_uid="ask for tokens of jobs")
        ended.connect(notify_of_end, dispatch_uid="notify of ended jobs", weak=False)
