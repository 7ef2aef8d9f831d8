"""Whether the settings work together: at every start, as Django's system checks, and by ``doctor``."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from socket import gethostname
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import ERROR, WARNING, CheckMessage, run_checks
from django.db import connection

from core.health.services import folder_trouble, is_open_to_others
from core.models import Heartbeat
from core.site.environment import is_local

MIN_KEY_LENGTH = 50  # as in Django's check --deploy
MIN_KEY_CHARACTERS = 5  # different ones, as there


Trouble = tuple[str, str, str]  # Django's id of a system check, what was found, and the line to change


def _is_weak(key: str) -> bool:
    return len(key) < MIN_KEY_LENGTH or len(set(key)) < MIN_KEY_CHARACTERS or key.startswith("django-insecure-")


def _errors() -> Iterator[Trouble]:
    """Yield what makes the site unsafe or its addresses wrong, so that it does not start."""
    # With DEBUG, error pages show settings and queries to visitors.
    if settings.DEBUG and settings.SITE_URL.startswith("https://"):
        yield "console.E001", "DEBUG is on while SITE_URL is a public address.", "Unset DEBUG."
    # Join links lead to SITE_URL; a host that is not in ALLOWED_HOSTS answers 400 to every worker.
    host = settings.SITE_URL.split("://", 1)[-1].split("/")[0].rsplit(":", 1)[0]
    if not any(
        allowed in ("*", host) or (allowed[:1] == "." and host.endswith(allowed)) for allowed in settings.ALLOWED_HOSTS
    ):
        found = f"Join links lead to {host}, which ALLOWED_HOSTS does not include."
        yield "console.E002", found, f"Set ALLOWED_HOSTS={host}."
    # A person who guesses a key can forge worker links, receipts and logins. Older keys are still valid.
    named = {"SECRET_KEY": [settings.SECRET_KEY], "SECRET_KEY_FALLBACKS": settings.SECRET_KEY_FALLBACKS}
    weak = [name for name, keys in named.items() if any(_is_weak(key) for key in keys)]
    if weak and not settings.DEBUG:
        found = f"{' and '.join(weak)} can be guessed: a key needs {MIN_KEY_LENGTH} random characters."
        yield "console.E004", found, "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(50))'"
    # Signed links, scripts and the API's description begin at the root of a host.
    paths = {
        "SITE_URL": urlsplit(settings.SITE_URL).path,
        "FORCE_SCRIPT_NAME": settings.FORCE_SCRIPT_NAME,
        "SCRIPT_NAME": os.environ.get("SCRIPT_NAME"),
    }
    for name, path in paths.items():
        if path:
            found = f"{name} has the path {path}, and the site works only at the root of a host."
            change = "Give it a host name or a port of its own, such as https://counterpart.example.org."
            yield "console.E005", found, change


def _warnings() -> Iterator[Trouble]:
    """Yield what the site can start with, but should not keep."""
    # Redis is for several computers; SQLite is a file on one of them.
    if settings.REDIS_URL and settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        found = "REDIS_URL is set while the database is SQLite: workers on other computers cannot reach it."
        yield "console.W001", found, "Set DATABASE_URL to a PostgreSQL server, or leave REDIS_URL out."
    # VAR_DIR holds the secret key, the database and the ids of workers.
    if is_open_to_others(Path(settings.VAR_DIR)):
        found = f"Other users of this computer may enter VAR_DIR ({settings.VAR_DIR})."
        yield "console.W002", found, f"chmod 700 {settings.VAR_DIR}"
    # A proxy in front of the site speaks TLS. If it is not counted, all visitors come from its address.
    if settings.BEHIND_TLS and not settings.PROXY_COUNT:
        found = "All visitors count as one address: the site is behind TLS, and PROXY_COUNT is 0."
        change = "Set PROXY_COUNT to the number of proxies before the site, and have each extend X-Forwarded-For."
        yield "console.W003", found, change
    # Only a warning: an archive on read-only storage can be read, and commands make room on a full disk.
    if not settings.AWS_STORAGE_BUCKET_NAME and folder_trouble():
        found = f"Pictures cannot be written to {settings.MEDIA_ROOT}: it can only be read."
        yield (
            "console.W004",
            found,
            "Set MEDIA_ROOT to a folder that this user may write to, or AWS_STORAGE_BUCKET_NAME.",
        )


def messages_at_start(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Return what is wrong with the settings, as Django prints it."""
    found = [(ERROR, _errors()), (WARNING, _warnings())]
    return [CheckMessage(level, text, hint=hint, id=name) for level, rows in found for name, text, hint in rows]


def find_settings() -> Iterator[tuple[str, str]]:
    """Run the system checks: key, hosts, DEBUG, private folders."""
    serious = [message for message in run_checks() if message.level >= WARNING]
    for message in serious:
        yield " ".join(message.msg.split()), message.hint or "See docs/operators.md."
    if not serious:
        key = "SECRET_KEY" if os.environ.get("SECRET_KEY") else f"{settings.VAR_DIR}/secret_key"
        yield f"the key is in {key}; hosts {', '.join(settings.ALLOWED_HOSTS)}", ""


def find_https() -> Iterator[tuple[str, str]]:
    site = urlsplit(settings.SITE_URL)
    origin = "/".join(settings.SITE_URL.split("/")[:3])
    if is_local(settings.SITE_URL):
        yield f"{settings.SITE_URL} is on this computer", ""
    elif site.scheme != "https":
        yield f"Logins and worker links travel unencrypted to {site.netloc}.", f"SITE_URL=https://{site.netloc}"
    elif not settings.BEHIND_TLS and origin not in settings.CSRF_TRUSTED_ORIGINS:
        yield "BEHIND_TLS is off, so forms that are sent by HTTPS are refused.", "BEHIND_TLS=true"
    else:
        yield f"{origin}; further trusted origins: {len(settings.CSRF_TRUSTED_ORIGINS)}", ""


def find_proxy() -> Iterator[tuple[str, str]]:
    """Ask for a page as visitors do, through the proxy."""
    if is_local(settings.SITE_URL):
        yield "not asked for: SITE_URL is on this computer", ""
        return
    url = f"{settings.SITE_URL}/login/"
    import httpx  # a fifth of a second, which other pages need not wait for

    try:
        answer = httpx.get(url, timeout=10)
    except httpx.HTTPError as error:
        change = "Start the site (gunicorn --config config/gunicorn.py), or correct SITE_URL."
        yield f"{url} does not answer ({error}).", change
        return
    if answer.is_redirect and settings.BEHIND_TLS:
        found = "The proxy does not say that visitors come by HTTPS, so they are redirected without end."
        yield found, "nginx: proxy_set_header X-Forwarded-Proto $scheme;"
    elif answer.status_code == 400:
        yield "The proxy hands on another host than SITE_URL's.", "nginx: proxy_set_header Host $host;"
    elif answer.status_code != 200:
        yield f"{url} answers {answer.status_code}.", "Correct the proxy's address of the site."
    else:
        yield f"{url} answers", ""


def find_computers() -> Iterator[tuple[str, str]]:
    """Report what other computers could not see, if there seem to be any."""
    alone = _of_this_computer()
    other = Heartbeat.objects.filter(pk=Heartbeat.QUEUE).exclude(by__in=("", gethostname()[:100])).first()
    if not alone:
        yield "any number: tasks and rows are on servers", ""
    elif not other and is_local(settings.SITE_URL):
        yield f"this one alone: {' and '.join(alone)}", ""
    for what, change in alone.items():
        if other:
            yield f"{other.by} runs a worker too, but here {what}.", change
        elif not is_local(settings.SITE_URL):
            yield f"The site is public, but {what}: no other computer could share it.", change


def _of_this_computer() -> dict[str, str]:
    """Return what is kept in files of this computer, each with the setting that moves it to a server."""
    found = {}
    if not settings.REDIS_URL:
        found["tasks are files in VAR_DIR"] = "REDIS_URL=redis://host:6379/0"
    if connection.vendor == "sqlite":
        found["the database is a file"] = "DATABASE_URL=postgres://user:password@host/name"
    return found
