"""A sharded retrieval on real worker processes, one of which is killed during a shard."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 300  # seconds, far more than is needed

SHARE = """
import django; django.setup()
import numpy as np
from pathlib import Path
from django.conf import settings
from mitl.models import Retrieval
from mitl.registration import add_annotator
from tests.factories import make_collection
from tests.mitl.searches import open_shared_retrieval, retrieve
rng, path = np.random.default_rng(3), settings.VAR_DIR / "embeddings.npz"
np.savez(path, image_ids=[str(i) for i in range(400)], images=rng.standard_normal((400, 32), np.float32),
         caption_ids=[str(c) for c in range(800)], captions=rng.standard_normal((800, 32), np.float32))
zoo, theirs = make_collection(images=400), add_annotator("theirs", kind="files", checkpoint=Path(path))
print(retrieve(zoo, annotators=[theirs])[0].sha256)
Retrieval.objects.all().delete()
open_shared_retrieval(zoo, annotator=theirs, shards=9)
"""


class Site:
    """A site of its own: its folder, its SQLite database, its broker and its workers."""

    def __init__(self, folder: Path, redis_url: str) -> None:
        self.folder = folder
        places = {"VAR_DIR": folder, "MEDIA_ROOT": folder / "media", "FILE_CACHE": folder / "cache"}
        self._redis_url, self._redis_prefix = redis_url, f"{folder.name}:{os.getpid()}:"
        broker = {"REDIS_URL": redis_url, "REDIS_PREFIX": self._redis_prefix}
        self._environment = (
            os.environ | places | broker | {"DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings"}
        )
        self._workers: list[subprocess.Popen] = []

    def python(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=self._environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def manage(self, *arguments: str) -> str:
        return self.python("manage.py", *arguments)

    def migrate(self, migrated: Path) -> None:
        if migrated.exists():
            shutil.copy(migrated, self.folder / "counterpart.sqlite3")
        else:
            self.manage("migrate", "-v0")
        # Open from now on: whoever closes the last connection locks the file, and may be stopped while it does.
        self._database = sqlite3.connect(self.folder / "counterpart.sqlite3", timeout=30, isolation_level=None)

    def start_worker(self) -> subprocess.Popen:
        number = len(self._workers)
        command = ["-m", "celery", "-A", "config", "worker", "--pool", "solo", "--hostname", f"w{number}@here"]
        with (self.folder / f"worker-{number}.log").open("wb") as log:
            worker = subprocess.Popen(
                [sys.executable, *command], cwd=ROOT, env=self._environment, stdout=log, stderr=log
            )
        self._workers.append(worker)
        return worker

    def close(self) -> None:
        self._database.close()
        for worker in self._workers:
            worker.kill()
            worker.wait()
        if self._redis_url:
            server = redis.from_url(self._redis_url)
            for key in server.scan_iter(f"{self._redis_prefix}*"):
                server.delete(key)

    def rows(self, query: str) -> list[tuple]:
        return self._database.execute(query).fetchall()

    def states(self, task: str) -> list[tuple[str, int]]:
        return self.rows(f"SELECT state, attempts FROM core_job WHERE task = 'mitl.tasks.{task}'")


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "nothing happens any more"
        time.sleep(0.01)


@pytest.fixture(params=["files", "redis"])
def site(request, tmp_path, migrated) -> Iterator[Site]:
    redis_url = os.environ.get("REDIS_URL", "") if request.param == "redis" else ""
    if request.param == "redis" and not redis_url:
        pytest.skip("needs REDIS_URL")
    site = Site(tmp_path, redis_url)
    site.migrate(migrated)
    yield site
    site.close()


def hold_in_a_shard(site: Site, worker: subprocess.Popen) -> bool:
    """Stop the worker where it stands; let it go on if that is not within a shard."""
    worker.send_signal(signal.SIGSTOP)
    if any(state == "running" for state, _ in site.states("search_shard")):
        return True
    worker.send_signal(signal.SIGCONT)
    return False


@pytest.mark.slow
def test_a_worker_killed_in_a_shard_changes_no_bit_of_the_result(site):
    single = site.python("-c", SHARE).split()[-1]
    killed = site.start_worker()
    wait_until(lambda: hold_in_a_shard(site, killed))
    killed.kill()
    killed.wait()
    # Minutes pass.
    site.rows("UPDATE core_job SET heartbeat_at = '2020-01-01 00:00:00' WHERE state IN ('queued', 'running')")
    site.manage("reconcile")
    site.start_worker(), site.start_worker()
    wait_until(lambda: site.states("share_retrieval")[0][0] not in ("queued", "running"))

    assert site.states("share_retrieval") == [("done", 0)]
    assert sorted(site.states("search_shard")) == [("done", 0)] * 8 + [("done", 1)]
    assert site.rows("SELECT sha256, depth FROM mitl_retrieval") == [(single, 25)]
    assert (site.folder / "media" / "shards").exists()
    assert [file for file in (site.folder / "media" / "shards").rglob("*") if file.is_file()] == []
