from django.apps import AppConfig, apps
from django.core.checks import register
from django.db.models.signals import post_migrate


class ConsoleConfig(AppConfig):
    name = "console"

    def ready(self) -> None:
        from console import checks
        from console.permissions import make_groups

        for check in checks.ALL:
            register(check)
        # Django sends post_migrate only for apps with models; dataset is the last one with permissions in the groups.
        post_migrate.connect(make_groups, sender=apps.get_app_config("dataset"))
