"""Typed environment variables: an unset one has a default, an invalid one is an error that names it."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from environs import Env, ValidationError, validate

env = Env()
at_least_one = validate.Range(min=1, error="must be at least 1")


def scheme_in(*schemes: str) -> Callable[[str], None]:
    """Accept an empty value or a URL with one of ``schemes``."""

    def check(url: str) -> None:
        if url and urlsplit(url).scheme not in schemes:
            raise ValidationError(f"must start with {' or '.join(f'{scheme}://' for scheme in schemes)}")

    return check


def folder(name: str, default: Path) -> Path:
    """Return the folder in a variable, or the default if it is unset or empty."""
    return Path(env.str(name, "") or default)


def database(sqlite_path: Path) -> dict[str, Any]:
    """Return Django's settings for DATABASE_URL, or for the SQLite file ``sqlite_path`` if it is unset.

    SQLite takes the write lock when a transaction begins (IMMEDIATE) and waits up to 30 seconds for it. A deferred
    transaction would fail at once when it starts to write, instead of waiting.
    """
    url = (
        env.str("DATABASE_URL", "", validate=scheme_in("postgres", "postgresql", "sqlite"))
        or f"sqlite:///{sqlite_path}"
    )
    settings: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=60)}
    if settings["ENGINE"].endswith("sqlite3"):
        Path(str(settings["NAME"])).parent.mkdir(parents=True, exist_ok=True)
        settings["CONN_MAX_AGE"] = 0
        settings["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536;",
        }
    return settings


def kept_secret(path: Path) -> str:
    """Return the secret in ``path``, created on first use and readable only by its owner."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(secret := secrets.token_urlsafe(50))
    return secret
