"""python -m tests.chaos ENGINE [--kills N] [--seed S] [--report FILE]"""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copy

import psycopg2
import redis

from tests.chaos.cuts import SPARED, Machine, own_disk
from tests.ports import reserved_port
from tests.services import own_postgres, redis_server, tcp_url

ENGINES = ("sqlite", "postgresql")


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.chaos", description="Kill a site under load and check its data.")
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help="write the figures into this Markdown file")
    parser.add_argument("--keep", type=Path, help="folder for logs and database (default: a temporary one)")
    parser.add_argument("--migrated", type=Path, help="an empty SQLite database to begin with")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        folder.mkdir(parents=True, exist_ok=True)
        machine = Machine(stack.enter_context(own_disk(folder / "var")))
        if options.migrated:
            copy(options.migrated, folder / "var/counterpart.sqlite3")
        environment = stack.enter_context(environment_for(options.engine, folder, machine))
        os.environ |= environment | {"PGAPPNAME": SPARED}
        sys.exit(kill_and_check(folder, {**os.environ, "PGAPPNAME": "site"}, machine, options))


def kill_and_check(folder: Path, environment: dict[str, str], machine: Machine, options: argparse.Namespace) -> int:
    import django

    django.setup()
    from tests.chaos.report import text_of, write
    from tests.chaos.run import migrate, run

    migrate()
    outcome = run(folder, environment, machine, kills=options.kills, seed=options.seed)
    print(text_of(outcome))
    print(dict(outcome.counts), file=sys.stderr)
    if options.report:
        write(options.report, outcome)
    for line in outcome.found:
        print(line, file=sys.stderr)
    return 1 if outcome.found else 0


@contextmanager
def environment_for(engine: str, folder: Path, machine: Machine) -> Iterator[dict[str, str]]:
    """Yield the variables of a site with a database, a broker and ports of its own. The server of PostgreSQL is the
    run's own too, as it is restarted."""
    with ExitStack() as stack:
        database = broker = ""
        if engine == "postgresql":
            machine.server = stack.enter_context(own_postgres(folder))
            database = stack.enter_context(own_database(tcp_url(machine.server.get_uri())))
            broker = stack.enter_context(own_broker(stack.enter_context(redis_server(folder))))
        yield {
            "DATABASE_URL": database,
            "REDIS_URL": broker,
            "REDIS_PREFIX": f"chaos-{os.getpid()}:",
            "VAR_DIR": str(folder / "var"),
            "SITE_URL": f"http://127.0.0.1:{stack.enter_context(reserved_port())}",
            "MTURK_EMULATOR_URL": f"http://127.0.0.1:{stack.enter_context(reserved_port())}",
            "LEASE_MINUTES": "1",
            "RECONCILE_SECONDS": "5",
            "SYNC_SECONDS": "5",
            "SYNC_LAG_SECONDS": "0",
            "JOINS_PER_HOUR": "100000",  # the whole crowd has one address
            "TAKES_PER_HOUR": "100000",
            "OMP_NUM_THREADS": "1",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }


@contextmanager
def own_database(server: str) -> Iterator[str]:
    name = f"chaos_{os.getpid()}"
    admin = psycopg2.connect(f"{server}/postgres", application_name=SPARED)
    admin.autocommit = True
    admin.cursor().execute(f"CREATE DATABASE {name}")
    try:
        yield f"{server}/{name}"
    finally:
        admin.cursor().execute(f"DROP DATABASE {name} WITH (FORCE)")
        admin.close()


@contextmanager
def own_broker(url: str) -> Iterator[str]:
    """Yield the URL of a Redis database that is empty and unused: connections of the others are not cut."""
    server = redis.from_url(url)
    taken = {int(client["db"]) for client in server.client_list()}
    taken |= {int(name.removeprefix("db")) for name in server.info("keyspace")}
    number = max(set(range(1, 16)) - taken)
    if url.startswith("unix://"):
        url = f"{url}?virtual_host={number}&db={number}"
    else:
        url = f"{url.rsplit('/', 1)[0]}/{number}"
    try:
        yield url
    finally:
        redis.from_url(url).flushdb()


if __name__ == "__main__":
    main()
