"""Typed environment variables: an unset one has a default, an invalid one ends the process with one line."""

import hashlib
import os
import secrets
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import django
from environs import Env, EnvValidationError, ValidationError, validate


class Variables:
    """What ``environs`` reads. No page or command can report an error yet, so an invalid value ends the process."""

    def __getattr__(self, kind: str) -> Any:
        read = getattr(Env(), kind)

        def value(name: str, *default: Any, **options: Any) -> Any:
            try:
                return read(name, *default, **options)
            except EnvValidationError as error:
                raise SystemExit(_invalid(name, " ".join(error.error_messages))) from error

        return value


env = Variables()
LOCK_SECONDS = 20  # less than gunicorn lets a request take
CONNECT_SECONDS = 10
at_least_one = validate.Range(min=1, error="must be at least 1")


def scheme_in(*schemes: str) -> Callable[[str], None]:
    """Accept an empty value or a URL with one of ``schemes``, and a port that is a number."""

    def check(url: str) -> None:
        try:
            scheme = urlsplit(url).scheme
            _ = scheme == "sqlite" or urlsplit(url).port
        except ValueError as error:  # Its text may hold a part of the password.
            raise ValidationError("is not an address; write special characters in it as %23 and the like") from error
        if url and scheme not in schemes:
            raise ValidationError(f"must start with {' or '.join(f'{scheme}://' for scheme in schemes)}")

    return check


def folder(name: str, default: Path) -> Path:
    """Return the folder in a variable, or the default if it is unset or empty."""
    return Path(env.str(name, "") or default)


def database(sqlite_path: Path) -> dict[str, Any]:
    """Return Django's settings for DATABASE_URL, or for the SQLite file ``sqlite_path`` if it is unset.

    SQLite takes the write lock when a transaction begins (IMMEDIATE) and waits up to 30 seconds for it. A deferred
    transaction would fail at once when it starts to write, instead of waiting. With synchronous=FULL a commit survives
    a power cut. PostgreSQL gives up waiting for a lock after LOCK_SECONDS; a connection that it dropped is replaced.
    """
    url = (
        env.str("DATABASE_URL", "", validate=scheme_in("postgres", "postgresql", "sqlite"))
        or f"sqlite:///{sqlite_path}"
    )
    try:
        settings: dict[str, Any] = {**dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True)}
    except ValueError as error:
        raise SystemExit(
            _invalid("DATABASE_URL", "not postgres://user:password@host/name or sqlite:///path")
        ) from error
    if settings["ENGINE"].endswith("sqlite3"):
        settings["CONN_MAX_AGE"] = 0
        path = Path(str(settings["NAME"]))
        if path.exists() and not os.access(path.parent, os.W_OK):
            return settings | {"NAME": _archived(path)}
        if settings["NAME"] != ":memory:":
            # Created before SQLite does, which gives its WAL the same permissions. The first query reports what is
            # wrong with the path.
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(path, os.O_CREAT, 0o600))
                _close_to_others(path)
        settings["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536;",
        }
    else:
        # The connection's options replace those of PGOPTIONS.
        options = f"-c lock_timeout={LOCK_SECONDS}s {os.environ.get('PGOPTIONS', '')}"
        settings.setdefault("OPTIONS", {}).setdefault("options", options.strip())
        settings["OPTIONS"].setdefault("connect_timeout", CONNECT_SECONDS)
    return settings


def kept_secrets(path: Path) -> list[str]:
    """Return the keys in ``path``, one a line, the newest first. On first use one is made, for its owner alone."""
    if not path.exists():
        descriptor, whole = tempfile.mkstemp(dir=path.parent)  # mode 0600
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50))
        with suppress(FileExistsError):  # Another process was first: its key counts.
            os.link(whole, path)
        os.unlink(whole)
    return path.read_text().split()


def private_folder(path: Path, *, ours: bool) -> None:
    """Create a folder that only its owner may enter; close an existing one if it is ``ours`` alone."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if ours:
        _close_to_others(path)


def is_local(url: str) -> bool:
    """Whether the address is one of this computer, which no other computer can open."""
    return urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")


def _archived(database: Path) -> str:
    """Return the name by which SQLite reads a file in a folder where it can make no files of its own."""
    wal = database.with_name(f"{database.name}-wal")
    if wal.exists() and wal.stat().st_size:
        raise SystemExit(
            f"{wal} holds changes that {database.name} does not have yet. Copy both where they can be written."
        )
    return f"{database.absolute().as_uri()}?immutable=1"


def _invalid(name: str, reason: str) -> str:
    return f"Invalid environment variable {name}: {reason.rstrip('.')}. docs/operators.md lists all of them."


def _close_to_others(path: Path) -> None:
    status = path.stat()
    if status.st_uid == os.geteuid() and status.st_mode & 0o077:
        path.chmod(status.st_mode & 0o700)


def fingerprint(folder: Path) -> str:
    """Return 12 hexadecimal digits that differ if the name or content of any file in ``folder`` differs, or Django."""
    digest = hashlib.sha256(django.__version__.encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"\0{path.relative_to(folder)}\0{path.stat().st_size}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]
