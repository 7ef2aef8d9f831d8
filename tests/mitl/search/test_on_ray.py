"""A search by parts on a Ray cluster of this computer: the same bytes, also when a process is killed; and its secrets.

Ray is not part of the base install: ``make cluster`` installs it, and runs these tests.
"""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from core.errors import CounterpartError
from mitl.search.by_parts import retrieve_by_parts
from mitl.search.engines import on_ray
from tests.factories import make_collection, make_sample
from tests.mitl.galleries import drawn
from tests.mitl.searches import add_embeddings, search, single_run

ray = pytest.importorskip("ray", reason="needs Ray: make cluster")
pytestmark = pytest.mark.slow
IMAGES = 900


@pytest.fixture
def zoo(db):
    return make_collection(images=IMAGES)


@pytest.fixture
def annotator(zoo, tmp_path):
    return add_embeddings(tmp_path, drawn(1, IMAGES, 6), drawn(2, 2 * IMAGES, 6))


def on_the_cluster(zoo, annotator, sample=None, **how):
    return retrieve_by_parts(search(zoo, [annotator], sample, depth=9), annotator, engine="ray", shards=7, **how)


def runners() -> list[int]:
    """The processes of actors that run units."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name = (process / "cmdline").read_bytes()
        except OSError:  # it has ended
            continue
        if name.startswith(b"ray::Runner"):
            found.append(int(process.name))
    return found


def test_a_cluster_comes_to_the_bytes_of_a_single_run_for_all_queries_and_for_a_sample(zoo, annotator):
    sample = make_sample(zoo)
    whole, part = single_run(zoo, annotator), single_run(zoo, annotator, sample)
    assert on_the_cluster(zoo, annotator).sha256 == whole
    assert on_the_cluster(zoo, annotator, sample).sha256 == part


class KilledError(Exception):
    """In place of the end of the driver."""


def test_a_driver_lost_at_half_and_a_process_killed_in_the_middle_change_no_bit(zoo, annotator):
    whole, killed, reported = single_run(zoo, annotator), [], []

    def end_at_half(step: str, done: int, total: int | None) -> None:
        if "scanning" in step and done * 2 >= total:
            raise KilledError

    def kill_one(step: str, done: int, total: int | None) -> None:
        reported.append((step, done))
        if "scanning" in step and done < total and not killed:
            killed.extend(runners()[:1])
            for process in killed:
                os.kill(process, signal.SIGKILL)

    with pytest.raises(KilledError):
        on_the_cluster(zoo, annotator, progress=end_at_half)
    assert on_the_cluster(zoo, annotator, progress=kill_one).sha256 == whole
    assert killed
    assert not any("encoding" in step for step, _ in reported)  # what was encoded stays


def test_what_a_unit_raises_is_raised_here(zoo, tmp_path):
    zeros = add_embeddings(tmp_path, np.zeros((IMAGES, 3)), np.ones((2 * IMAGES, 3)))
    with pytest.raises(CounterpartError, match=r"^theirs: \d+ rows .* zero"):
        on_the_cluster(zoo, zeros)


def test_a_worker_knows_the_storage_and_nothing_of_database_broker_and_keys(monkeypatch, settings):
    secrets = {"DATABASE_URL": "postgres://site:pass@db/site", "REDIS_URL": "redis://:pass@redis", "SECRET_KEY": "ours"}
    for name, value in {**secrets, "PROLIFIC_TOKEN": "token", "AWS_STORAGE_BUCKET_NAME": ""}.items():
        monkeypatch.setenv(name, value)

    def environment() -> dict[str, str]:
        def of(process: int) -> dict[str, str]:
            lines = Path(f"/proc/{process}/environ").read_bytes().decode().split("\0")
            return dict(line.split("=", 1) for line in lines if "=" in line)

        from django.conf import settings

        return {**of(os.getppid()), **of(os.getpid()), **os.environ, "database": settings.DATABASES["default"]["NAME"]}

    with on_ray.connected():
        seen = ray.get(ray.remote(environment).remote())
    assert seen["MEDIA_ROOT"] == str(settings.MEDIA_ROOT)
    assert not {"DATABASE_URL", "REDIS_URL", "PROLIFIC_TOKEN"} & seen.keys()
    assert seen["SECRET_KEY"] != "ours"
    assert Path(seen["database"]).parent == settings.VAR_DIR / "ray"
