"""System checks of settings that do not work together, run at every start."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

DEFAULT_HOSTS = {"127.0.0.1", "localhost", "testserver"}


def no_debug_in_public(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """With DEBUG, error pages show settings and queries to visitors."""
    if settings.DEBUG and settings.SITE_URL.startswith("https://"):
        return [
            Error("DEBUG is on while SITE_URL is a public address.", hint="Unset DEBUG.", id="console.E001"),
        ]
    return []


def hosts_include_the_site(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Join links lead to SITE_URL; a host that is not in ALLOWED_HOSTS answers 400 to every worker."""
    host = settings.SITE_URL.split("://", 1)[-1].split("/")[0].rsplit(":", 1)[0]
    if any(
        allowed in ("*", host) or (allowed[:1] == "." and host.endswith(allowed)) for allowed in settings.ALLOWED_HOSTS
    ):
        return []
    return [
        Error(
            f"Join links lead to {host}, which ALLOWED_HOSTS does not include.",
            hint=f"Set ALLOWED_HOSTS={host}.",
            id="console.E002",
        )
    ]


def storage_is_writable(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Pictures and other files are stored in MEDIA_ROOT, unless a bucket is configured."""
    if settings.AWS_STORAGE_BUCKET_NAME:
        return []
    folder = Path(settings.MEDIA_ROOT).resolve()
    nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK):
        return []
    return [
        Error(
            f"Pictures cannot be written to {settings.MEDIA_ROOT}.",
            hint="Set MEDIA_ROOT to a folder that this user may write to, or AWS_STORAGE_BUCKET_NAME.",
            id="console.E003",
        )
    ]


def redis_needs_postgresql(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Redis is for several computers; SQLite is a file on one of them."""
    if settings.REDIS_URL and settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        return [
            Warning(
                "REDIS_URL is set while the database is SQLite: workers on other computers cannot reach it.",
                hint="Set DATABASE_URL to a PostgreSQL server, or leave REDIS_URL out.",
                id="console.W001",
            )
        ]
    return []


ALL = (no_debug_in_public, hosts_include_the_site, storage_is_writable, redis_needs_postgresql)
