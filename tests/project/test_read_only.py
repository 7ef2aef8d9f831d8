"""A site on read-only storage: what only reads works there, and what writes says why it cannot."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from core.site.environment import database
from dataset.publications import publish
from tests.annotation.cast import answer, sample_of
from tests.chaos.cuts import own_disk
from tests.dataset.releasing import release, release_version
from tests.factories import make_collection, make_round

READING = """
import django; django.setup()
from django.core.management import CommandError, call_command
from django.test import Client
call_command("verify", "v1")
call_command("diff", "v1", "v2")
call_command("export", "v2", "--format", "eccv-json", "--out", {out!r})
print("page", Client(headers={{"host": "localhost"}}).get("/results/v2/").status_code)
try:
    call_command("close", "round-1")
except CommandError as error:
    print("close:", error)
"""


@pytest.fixture
def archive(transactional_db, tmp_path, settings):
    """A folder that can only be read, with a database, two versions and their files."""
    if connection.vendor != "sqlite":
        pytest.skip("A database server needs storage of its own")
    with own_disk(tmp_path / "archive") as folder:
        if not folder:
            pytest.skip("This user may mount no disk")
        settings.MEDIA_ROOT = Path(folder) / "media"
        round = make_round(make_collection(), candidates=2)
        answer(round.hits.get(), 1, 4)
        release_version("v1", collection=round.pool.collection, sample=sample_of(round), merge="original")
        publish(release(round, "v2"), picture_terms="", by=User.objects.create_user("ada"))
        for name in ("static", "messages/control"):
            os.makedirs(f"{folder}/{name}")
        with open(f"{folder}/secret_key", "w") as file:
            file.write("k" + settings.SECRET_KEY)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [f"{folder}/counterpart.sqlite3"])
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        yield folder


@pytest.mark.slow
def test_an_archive_is_verified_compared_exported_and_shown_in_place(archive, tmp_path):
    environment = os.environ | {"VAR_DIR": archive, "DATABASE_URL": "", "REDIS_URL": "", "MEDIA_ROOT": ""}
    environment |= {"FILE_CACHE": str(tmp_path / "cache"), "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", READING.format(out=str(tmp_path / "out"))]
    done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "judgments: ok" in done.stdout
    assert "page 200" in done.stdout
    assert re.search(r"^close: .*read-only", done.stdout, re.M)
    assert sorted(path.name for path in (tmp_path / "out").iterdir())


def test_a_database_that_was_not_closed_is_not_read_without_its_last_changes(monkeypatch, tmp_path):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    (tmp_path / "site.sqlite3").touch()
    assert "immutable=1" in database(tmp_path / "site.sqlite3")["NAME"]
    (tmp_path / "site.sqlite3-wal").write_bytes(b"changes")
    with pytest.raises(SystemExit, match="site.sqlite3"):
        database(tmp_path / "site.sqlite3")
