from typing import Any

from django.apps import AppConfig
from django.db import transaction


class EvaluationConfig(AppConfig):
    name = "evaluation"

    event_sentences = {
        "evaluated": "{who} scored {what} on version {version}",
        "stopped asking": "{who} stopped asking likely matches of {what}: {reason}",
    }

    def ready(self) -> None:
        from dataset.models import Version, released

        def score_once_committed(version: Version, **_: Any) -> None:
            from evaluation.jobs import start_scoring

            # Robust: a version is released even if its scoring cannot be started.
            transaction.on_commit(lambda: start_scoring(version), robust=True)

        released.connect(score_once_committed, dispatch_uid="score registered runs", weak=False)
