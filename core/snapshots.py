"""Snapshots of the database while others write to it, and their return, on SQLite and PostgreSQL."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from time import monotonic

from django.db import connection

from config.environment import LOCK_SECONDS
from core.errors import CounterpartError

PATIENCE = 30  # seconds that a restored SQLite database waits for others' writes
_HELD = (5, 6)  # SQLITE_BUSY, SQLITE_LOCKED
_WAIT = f"--lock-wait-timeout={LOCK_SECONDS}s"


def snapshot_name() -> str:
    """Return the name of the snapshot's file in a backup."""
    return "database.sqlite3" if connection.vendor == "sqlite" else "database.dump"


def take_snapshot(target: Path) -> None:
    """Write the database as it is at one moment. Raises CounterpartError in one line if that fails."""
    if connection.vendor == "sqlite":
        copy_sqlite(Path(connection.settings_dict["NAME"]), target)
    else:
        _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", f"--file={target}", _WAIT)


def load_snapshot(source: Path) -> None:
    """Replace the database by a snapshot, all of it or nothing. Raises CounterpartError in one line if that fails."""
    tables = connection.introspection.table_names()
    connection.close()
    if connection.vendor == "sqlite":
        copy_sqlite(source, Path(connection.settings_dict["NAME"]))
        return
    # pg_restore alone would leave tables that the snapshot lacks, those of a newer version.
    drop = "; ".join(f"DROP TABLE {connection.ops.quote_name(table)} CASCADE" for table in tables)
    script = source.with_suffix(".sql")
    _run("pg_restore", "--no-owner", "--no-privileges", f"--file={script}", str(source))
    options = ("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1")
    _run("psql", *options, f"--command={drop or 'SELECT 1'}", f"--file={script}")


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy an SQLite database, over an existing one if there is one: in one transaction, safe while both are in use.

    Raises CounterpartError if the copy is damaged, or if others keep the target locked for PATIENCE seconds.
    """
    deadline = monotonic() + PATIENCE

    def give_up(status: int, remaining: int, total: int) -> None:
        if status in _HELD and monotonic() > deadline:
            raise CounterpartError("The database is in use. Stop the site and the worker, then try again.")

    try:
        with closing(sqlite3.connect(source)) as from_, closing(sqlite3.connect(target, timeout=1)) as to:
            from_.backup(to, progress=give_up)
            (found,) = to.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        raise CounterpartError(f"{source.name} could not be copied to {target}: {error}.") from error
    if found != "ok":
        raise CounterpartError(f"The database {source} is damaged ({found}).")


def _run(program: str, *options: str) -> None:
    """Run one of PostgreSQL's programs on our database. The password is passed in the environment."""
    if shutil.which(program) is None:
        raise CounterpartError(
            f"{program} is not installed. Install PostgreSQL's client programs of the server's version."
        )
    database = connection.settings_dict
    given = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGPASSWORD": "PASSWORD", "PGDATABASE": "NAME"}
    variables = {name: str(database[key]) for name, key in given.items() if database[key]}
    variables["PGOPTIONS"] = f"-c lock_timeout={LOCK_SECONDS}s"
    if mode := database["OPTIONS"].get("sslmode"):
        variables["PGSSLMODE"] = mode
    outcome = subprocess.run([program, *options], env=os.environ | variables, capture_output=True, text=True)
    if outcome.returncode:
        told = next((line for line in outcome.stderr.splitlines() if "error" in line.lower()), outcome.stderr.strip())
        raise CounterpartError(f"{told or program + ' failed'}. The database was not changed.")
