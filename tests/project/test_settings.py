"""Settings are read from the environment with their types; invalid ones are refused by name, at start."""

import os
import runpy
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg2
import pytest
from django.contrib.auth.models import User
from django.core.cache.backends.locmem import LocMemCache
from django.core.management.base import SystemCheckError
from django.db import ConnectionHandler, OperationalError, close_old_connections, connection

from core.site import version
from core.site.environment import database, kept_secrets
from tests.project.names import ROOT


def start(folder: Path, **environment: str) -> dict[str, Any]:
    """Read the settings in an environment of these variables alone."""
    with patch.dict(os.environ, {"VAR_DIR": str(folder), **environment}, clear=True):
        return runpy.run_path(str(ROOT / "config/settings.py"))


def test_nothing_set_runs_on_sqlite_for_this_machine_alone(tmp_path):
    settings = start(tmp_path)
    assert settings["DATABASES"]["default"]["ENGINE"] == "django.db.backends.sqlite3"
    assert settings["ALLOWED_HOSTS"] == ["127.0.0.1", "localhost"]  # and to no host of the tests
    settings = start(tmp_path, DATABASE_URL="postgres://user@db/counterpart")
    assert settings["DATABASES"]["default"]["ENGINE"] == "django.db.backends.postgresql"


def test_an_upgraded_site_does_not_read_what_an_older_version_cached(tmp_path, monkeypatch):
    cache = LocMemCache("upgraded", start(tmp_path, REDIS_URL="redis://cache/0")["CACHES"]["default"])
    cache.set("figures", 1)
    assert cache.get("figures") == 1
    monkeypatch.setattr(version, "software_version", lambda: "9.9.9")
    assert cache.get("figures") is None


def test_empty_variables_count_as_unset(tmp_path):
    folders = ("MEDIA_ROOT", "FILE_CACHE", "STATIC_ROOT")
    empty = start(tmp_path, **dict.fromkeys(("DATABASE_URL", "REDIS_URL", "SECRET_KEY", *folders), ""))
    unset = start(tmp_path)
    assert [empty[name] for name in ("DATABASES", "SECRET_KEY")] == [
        unset[name] for name in ("DATABASES", "SECRET_KEY")
    ]
    for name in folders:  # not the current folder
        assert str(empty[name]).startswith(str(tmp_path)), name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEBUG", "perhaps"),
        ("LEASE_MINUTES", "0"),
        ("LEASE_MINUTES", "soon"),
        ("RECONCILE_SECONDS", "-1"),
        ("REDIS_URL", "http://redis"),
        ("LOG_LEVEL", "LOUD"),
        ("DATABASE_URL", "oracle9://db/x"),
        ("DATABASE_URL", "postgres://me:pass#word@db/x"),
        ("REDIS_URL", "redis://host:port"),
        ("SITE_URL", "judge.example"),
        ("SYNC_LAG_SECONDS", "-1"),
    ],
)
def test_an_invalid_variable_is_reported_in_one_line_without_its_password(tmp_path, name, value):
    with pytest.raises(SystemExit, match=rf"\b{name}\b") as ended:
        start(tmp_path, **{name: value})
    assert "\n" not in str(ended.value)
    assert "pass" not in str(ended.value)


UNREACHABLE = {"DATABASE_URL": "postgres://user@127.0.0.1:1/x"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "variables", "words"),
    [
        (["manage.py", "migrate"], {"LEASE_MINUTES": "abc"}, "LEASE_MINUTES"),
        (["-m", "celery", "-A", "config", "worker"], {"LEASE_MINUTES": "abc"}, "LEASE_MINUTES"),
        (["-m", "gunicorn", "--config", "config/gunicorn.py"], {"LEASE_MINUTES": "abc"}, "LEASE_MINUTES"),
        (["manage.py", "migrate"], UNREACHABLE, "database cannot be reached"),
    ],
)
def test_every_program_reports_what_it_cannot_start_with_in_one_line(tmp_path, program, variables, words):
    environment = {"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path)} | variables
    outcome = subprocess.run(
        [sys.executable, *program], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (outcome.returncode, outcome.stderr.count("\n")) == (1, 1)
    assert words in outcome.stderr


def test_a_folder_of_the_database_that_cannot_be_made_is_left_to_the_first_query(db, tmp_path):
    made = ConnectionHandler(start(tmp_path, DATABASE_URL="sqlite:////proc/none/x")["DATABASES"])["default"]
    with pytest.raises(OperationalError):
        made.ensure_connection()


def test_two_first_starts_at_once_agree_on_one_key(tmp_path):
    with ThreadPoolExecutor(8) as starts:
        keys = {tuple(keys) for keys in starts.map(kept_secrets, [tmp_path / "secret_key"] * 40)}
    assert len(keys) == 1
    assert os.listdir(tmp_path) == ["secret_key"]


def test_the_made_secret_is_kept_and_private(tmp_path):
    start(tmp_path)
    secret = tmp_path / "secret_key"
    before = secret.read_text()
    start(tmp_path)
    assert secret.read_text() == before
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_an_older_key_below_the_first_line_is_still_valid(tmp_path):
    (tmp_path / "secret_key").write_text("the-new-key\nthe-old-key\n")
    settings = start(tmp_path, SECRET_KEY_FALLBACKS="the-oldest-key")
    assert settings["SECRET_KEY"] == "the-new-key"
    assert settings["SECRET_KEY_FALLBACKS"] == ["the-old-key", "the-oldest-key"]


def test_other_users_cannot_read_the_state_of_a_site(tmp_path):
    folder = tmp_path / "var"
    start(folder)
    kept = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in (folder, *folder.glob("*_key"), *folder.glob("*.sqlite3"))
    }
    assert kept == {"var": 0o700, "secret_key": 0o600, "counterpart.sqlite3": 0o600}
    earlier = tmp_path / "elsewhere.sqlite3"  # as releases before 0.2 made it
    earlier.touch(mode=0o644)
    start(folder, DATABASE_URL=f"sqlite:///{earlier}")
    assert stat.S_IMODE(earlier.stat().st_mode) == 0o600


def test_a_database_in_memory_makes_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "sqlite://:memory:")
    monkeypatch.chdir(tmp_path)
    database(tmp_path / "unused")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_more_than_our_state_keeps_its_permissions(tmp_path):
    tmp_path.chmod(0o755)
    start(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_power_cut_takes_back_no_commit_on_sqlite(db, monkeypatch, tmp_path):
    monkeypatch.setenv("DATABASE_URL", "")
    made = ConnectionHandler({"default": database(tmp_path / "db.sqlite3")})["default"]
    with made.cursor() as cursor:
        assert cursor.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    made.close()


@pytest.mark.service
def test_a_connection_that_postgresql_dropped_fails_no_request(transactional_db):
    connection.ensure_connection()
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no server")
    with psycopg2.connect(connection.connection.dsn, password=connection.settings_dict["PASSWORD"]) as other:
        other.cursor().execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
    close_old_connections()  # as at the start of each request
    assert not User.objects.exists()


@pytest.mark.service
def test_no_request_waits_for_a_lock_until_the_server_kills_it(db):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has a time-out of its own")
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("20s",)


def test_a_site_whose_key_can_be_guessed_does_not_start(settings):
    settings.SECRET_KEY = "x"
    with pytest.raises(SystemCheckError, match="SECRET_KEY can be guessed"):
        runpy.run_module("config.wsgi")
