from typing import Any

from django.core.management.commands import migrate

from core.database.upgrades import refuse_old_database


class Command(migrate.Command):
    step = "site"

    def handle(self, *args: Any, **options: Any) -> None:
        refuse_old_database(options["database"])
        super().handle(*args, **options)
