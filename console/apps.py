from typing import Any

from django.apps import AppConfig, apps
from django.db import transaction
from django.db.models.signals import post_migrate


class ConsoleConfig(AppConfig):
    name = "console"

    event_sentences = {
        "activated": "{who} let {what} log in again",
        "deactivated": "{who} no longer lets {what} log in",
        "password link made": "{who} made a password link for {what}",
        "password link mailed": "{who} asked for a password link by mail",
        "password link used": "{who} used a password link",
        "password set": "{who} set a password",
        "payments listed": "{who} listed the payments of {what}",
        "roles changed": "{who} changed the roles of {what}",
        "undone": "{who} took the import {what} back",
    }

    def ready(self) -> None:
        from console.permissions import make_groups

        # Django sends post_migrate only for apps with models; dataset is the last one with permissions in the groups.
        post_migrate.connect(make_groups, sender=apps.get_app_config("dataset"))

        from dataset.models import Version, released

        def measure_once_committed(version: Version, **_: Any) -> None:
            from console.jobs import start_measuring

            # Robust: a version is released even if its figures cannot be measured.
            if version.rounds.exists():
                transaction.on_commit(lambda: start_measuring(version, by=version.released_by), robust=True)

        released.connect(measure_once_committed, dispatch_uid="measure versions", weak=False)
