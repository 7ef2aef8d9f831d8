from typing import Any

from django.apps import AppConfig


class IntegrationsConfig(AppConfig):
    name = "integrations"

    event_sentences = {
        "token made": "{who} made {what} with the scopes {scopes}",
        "token revoked": "{who} revoked {what}",
        "webhook added": "{who} added {what}, which is told {types}",
        "webhook removed": "{who} removed {what}",
        "webhook secret changed": "{who} made a new secret of {what}",
        "webhook on": "{who} switched {what} on",
        "webhook off": "{who} switched {what} off",
    }

    def ready(self) -> None:
        from core.jobs import ended
        from core.models import Job
        from integrations.notifications import notify

        def tell(job: Job, **_: Any) -> None:
            notify("job.finished", f"/jobs/{job.pk}", id=str(job.pk), task=job.task, state=str(job.state))

        ended.connect(tell, dispatch_uid="tell of ended jobs", weak=False)
