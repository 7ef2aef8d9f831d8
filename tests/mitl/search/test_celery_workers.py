"""A search by parts on real worker processes, one of which is killed at a unit: the helper, or the driver."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import redis

from mitl.search.engines.on_celery import PAUSE

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 300  # seconds, far more than is needed

SINGLE = """
import django; django.setup()
import numpy as np
from pathlib import Path
from django.conf import settings
from mitl.models import Retrieval
from mitl.registration import add_annotator
from tests.factories import make_collection
from tests.mitl.searches import retrieve
rng, path = np.random.default_rng(3), settings.VAR_DIR / "embeddings.npz"
np.savez(path, image_ids=[str(i) for i in range(3000)], images=rng.standard_normal((3000, 32), np.float32),
         caption_ids=[str(c) for c in range(6000)], captions=rng.standard_normal((6000, 32), np.float32))
zoo, theirs = make_collection(images=3000), add_annotator("theirs", kind="files", checkpoint=Path(path))
print(retrieve(zoo, annotators=[theirs])[0].sha256)
Retrieval.objects.all().delete()
"""
SEARCH = ("manage.py", "retrieve", "zoo", "--annotators", "theirs", "--engine-on", "celery", "--shards", "24", "--wait")


class Site:
    """A site of its own: its folder, its SQLite database, its broker and its processes."""

    def __init__(self, folder: Path, redis_url: str) -> None:
        self.folder = folder
        places = {"VAR_DIR": folder, "MEDIA_ROOT": folder / "media", "FILE_CACHE": folder / "cache"}
        self._redis_url, self._redis_prefix = redis_url, f"{folder.name}:{os.getpid()}:"
        broker = {"REDIS_URL": redis_url, "REDIS_PREFIX": self._redis_prefix, "LOG_LEVEL": "INFO"}
        self._environment = (
            os.environ | places | broker | {"DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings"}
        )
        self._processes: list[subprocess.Popen] = []

    def python(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self._environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def open(self) -> None:
        """Keep the database open: the process that closes it last locks the file, and may be stopped meanwhile."""
        self._database = sqlite3.connect(self.folder / "counterpart.sqlite3", timeout=30, isolation_level=None)

    def start(self, *arguments: str) -> subprocess.Popen:
        with (self.folder / f"process-{len(self._processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, *arguments], cwd=ROOT, env=self._environment, stdout=log, stderr=log
            )
        self._processes.append(process)
        return process

    def close(self) -> None:
        self._database.close()
        for process in self._processes:
            process.kill()
            process.wait()
        if self._redis_url:
            server = redis.from_url(self._redis_url)
            for key in server.scan_iter(f"{self._redis_prefix}*"):
                server.delete(key)

    def rows(self, query: str) -> list[tuple]:
        return self._database.execute(query).fetchall()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "nothing happens any more"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def searched(tmp_path_factory, migrated) -> tuple[Path, str]:
    """The folder of a site with a gallery and its annotator, and the checksum of one process's search."""
    site = Site(tmp_path_factory.mktemp("searched"), "")
    if migrated.exists():
        shutil.copy(migrated, site.folder / "counterpart.sqlite3")
    else:
        site.python("manage.py", "migrate", "-v0")
    return site.folder, site.python("-c", SINGLE).split()[-1]


@pytest.fixture
def site(request, tmp_path, searched) -> Iterator[Site]:
    redis_url = os.environ.get("REDIS_URL", "") if request.param == "redis" else ""
    if request.param == "redis" and not redis_url:
        pytest.skip("needs REDIS_URL")
    shutil.copytree(searched[0], tmp_path, dirs_exist_ok=True)
    site = Site(tmp_path, redis_url)
    site.open()
    yield site
    site.close()


def held_at_units(site: Site, *processes: subprocess.Popen) -> bool:
    """Stop all processes where they stand; let them go on if not each of them is at a unit."""
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    if len(site.rows("SELECT name FROM mitl_unitlease")) == len(processes):
        return True
    for process in processes:
        process.send_signal(signal.SIGCONT)
    time.sleep(0.02)
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("site", "lost"),
    [("files", "helper"), ("files", "driver"), pytest.param("redis", "helper", marks=pytest.mark.service)],
    indirect=["site"],
)
def test_a_process_killed_at_a_unit_changes_no_bit_of_the_result(site, searched, lost):
    helper = site.start("-m", "celery", "-A", "config", "worker", "--pool", "solo")
    wait_until(lambda: b"ready" in (site.folder / "process-0.log").read_bytes())
    driver = site.start(*SEARCH)
    wait_until(lambda: held_at_units(site, driver, helper))
    killed, left = (helper, driver) if lost == "helper" else (driver, helper)
    killed.kill()
    killed.wait()
    (longest,) = site.rows("SELECT max(until) FROM mitl_unitlease")[0]
    waits = datetime.fromisoformat(longest).replace(tzinfo=UTC) - datetime.now(UTC)
    assert waits.total_seconds() + PAUSE <= 10, "the lost unit is taken later than that"
    left.send_signal(signal.SIGCONT)
    if lost == "driver":
        driver = site.start(*SEARCH)
    assert driver.wait(PATIENCE) == 0

    assert site.rows("SELECT sha256, depth FROM mitl_retrieval") == [(searched[1], 25)]
    wait_until(lambda: site.rows("SELECT name FROM mitl_unitlease") == [])
    assert [file for file in (site.folder / "media" / "searches").rglob("*") if file.is_file()] == []
