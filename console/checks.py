"""System checks of settings that do not work together, run at every start."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from core.health import folder_trouble

MIN_KEY_LENGTH, MIN_KEY_CHARACTERS = 50, 5  # as in Django's check --deploy


def no_debug_in_public(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """With DEBUG, error pages show settings and queries to visitors."""
    if settings.DEBUG and settings.SITE_URL.startswith("https://"):
        return [
            Error("DEBUG is on while SITE_URL is a public address.", hint="Unset DEBUG.", id="console.E001"),
        ]
    return []


def secret_keys_are_strong(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """A person who guesses a key can forge worker links, receipts and logins. Older keys are still valid."""
    named = {"SECRET_KEY": [settings.SECRET_KEY], "SECRET_KEY_FALLBACKS": settings.SECRET_KEY_FALLBACKS}
    weak = [name for name, keys in named.items() if any(_is_weak(key) for key in keys)]
    if settings.DEBUG or not weak:
        return []
    return [
        Error(
            f"{' and '.join(weak)} can be guessed: a key needs {MIN_KEY_LENGTH} random characters.",
            hint="Make one with: python -c 'import secrets; print(secrets.token_urlsafe(50))'",
            id="console.E004",
        )
    ]


def _is_weak(key: str) -> bool:
    return len(key) < MIN_KEY_LENGTH or len(set(key)) < MIN_KEY_CHARACTERS or key.startswith("django-insecure-")


def local_state_is_private(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """VAR_DIR holds the secret key, the database and the ids of workers."""
    if Path(settings.VAR_DIR).stat().st_mode & 0o077:
        return [
            Warning(
                f"Other users of this computer may enter VAR_DIR ({settings.VAR_DIR}).",
                hint=f"chmod 700 {settings.VAR_DIR}",
                id="console.W002",
            )
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


def proxies_are_counted(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Something before the site speaks TLS. If it is not counted, all visitors come from its address."""
    if settings.BEHIND_TLS and not settings.PROXY_COUNT:
        return [
            Warning(
                "All visitors count as one address: the site is behind TLS, and PROXY_COUNT is 0.",
                hint="Set PROXY_COUNT to the number of proxies before the site, and have each extend X-Forwarded-For.",
                id="console.W003",
            )
        ]
    return []


def storage_is_writable(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Pictures and other files are stored in MEDIA_ROOT, unless a bucket is configured. A full disk is no error here,
    as that would stop the commands that make room."""
    if settings.AWS_STORAGE_BUCKET_NAME or not folder_trouble():
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


ALL = (
    no_debug_in_public,
    secret_keys_are_strong,
    local_state_is_private,
    hosts_include_the_site,
    proxies_are_counted,
    storage_is_writable,
    redis_needs_postgresql,
)
