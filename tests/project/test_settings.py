"""Settings come typed from the environment; nonsense is refused by name, at start."""

import os
import stat
import subprocess
import sys

import pytest


def start(tmp_path, shown: str = "DATABASES['default']['ENGINE']", **environment: str):
    """Load the settings in a process of their own, which prints one of them."""
    return subprocess.run(
        [sys.executable, "-c", f"from config import settings; print(settings.{shown})"],
        env={"PATH": os.environ["PATH"], "VAR_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
    )


def test_nothing_set_runs_on_sqlite(tmp_path):
    assert start(tmp_path).stdout.strip() == "django.db.backends.sqlite3"


def test_a_database_url_selects_postgresql(tmp_path):
    outcome = start(tmp_path, DATABASE_URL="postgres://somebody@db/counterpart")
    assert outcome.stdout.strip() == "django.db.backends.postgresql"


def test_empty_variables_count_as_unset(tmp_path):
    assert start(tmp_path, DATABASE_URL="", REDIS_URL="", SECRET_KEY="").returncode == 0


@pytest.mark.parametrize("name", ["MEDIA_ROOT", "FILE_CACHE", "STATIC_ROOT"])
def test_an_empty_folder_is_the_default_not_the_current_one(tmp_path, name):
    outcome = start(tmp_path, shown=name, **{name: ""})
    assert outcome.stdout.strip().startswith(str(tmp_path))


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
    ],
)
def test_nonsense_is_refused_by_name(tmp_path, name, value):
    outcome = start(tmp_path, **{name: value})
    assert outcome.returncode != 0
    assert name in outcome.stderr or value in outcome.stderr


def test_the_made_secret_is_kept_and_private(tmp_path):
    start(tmp_path)
    secret = tmp_path / "secret_key"
    before = secret.read_text()
    start(tmp_path)
    assert secret.read_text() == before
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
