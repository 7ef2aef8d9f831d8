"""Which databases this version can upgrade: those with every migration that its squashed migrations replace."""

from django.core.management.base import CommandError
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

OLDEST = "0.3.1"
LAST_STEP = "0.3.2"  # the last version that upgrades from any older one

Name = tuple[str, str]  # an app's label, and the name of one of its migrations


def known_migrations() -> set[Name]:
    """Return the names of our migrations, and of those that squashed ones replace."""
    loader = MigrationLoader(None)
    return {*loader.disk_migrations, *(name for one in loader.replacements.values() for name in one.replaces)}


def is_too_old(applied: set[Name]) -> bool:
    """Whether a squashed migration replaces some migrations that were applied, and some that were not.

    Django would then take no part of it as applied, and begin with the migrations after it.
    """
    replaced = (set(migration.replaces) for migration in MigrationLoader(None).replacements.values())
    return any(names & applied and not names <= applied for names in replaced)


def refuse_old_database(alias: str) -> None:
    """Raise CommandError if the database is too old."""
    if is_too_old(set(MigrationRecorder(connections[alias]).applied_migrations())):
        raise CommandError(
            f"This database is of a version before {OLDEST}. Upgrade to {LAST_STEP} first, then to this version."
        )
