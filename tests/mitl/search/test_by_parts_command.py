"""The command retrieve --engine-on and --shards: who works, what is printed, what it refuses."""

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from core.models import Job
from core.work import jobs
from mitl.models import Retrieval
from mitl.search.engines import on_local, on_ray
from tests.commands import figures_printed, output_of
from tests.factories import make_collection
from tests.mitl.searches import add_embeddings

ASKED = ("retrieve", "zoo", "--annotators", "theirs", "--depth", "3")
ON_RAY = (*ASKED, "--engine-on", "ray", "--shards", "2")


@pytest.fixture(autouse=True)
def zoo(db, tmp_path, monkeypatch):
    """A collection and an annotator with embeddings; no worker is there to take what is sent."""
    monkeypatch.setattr(jobs, "send", lambda job: None)
    rng = np.random.default_rng(0)
    collection = make_collection(images=5)
    add_embeddings(tmp_path, *(rng.standard_normal((n, 4), np.float32) for n in (5, 10)))
    return collection


@pytest.fixture
def cluster(monkeypatch) -> None:
    """A Ray cluster can be used; this process does its work."""
    monkeypatch.setattr(on_ray, "cluster_problem", lambda: "")
    monkeypatch.setattr(on_ray, "connected", on_local.connected)


def test_parts_are_searched_here_unless_another_engine_is_named():
    figures = figures_printed(*ASKED, "--shards", "2")["theirs"]
    assert (figures["sha256"], figures["depth"], figures["kept"]) == (Retrieval.objects.get().sha256, 3, False)
    assert not Job.objects.exists()


def test_without_wait_the_job_is_left_to_the_workers(cluster):
    out = output_of(*ON_RAY)
    job = Job.objects.get()
    assert out.splitlines()[0] == f"Retrieve theirs over zoo: job {job.pk} is queued."
    assert not Retrieval.objects.exists()


def test_with_wait_the_command_makes_the_search(cluster):
    figures = figures_printed(*ON_RAY, "--wait")["theirs"]
    assert (figures["sha256"], figures["depth"], figures["kept"]) == (Retrieval.objects.get().sha256, 3, False)


def test_options_that_parts_cannot_follow_are_refused(cluster):
    with pytest.raises(CommandError, match="--rerank, --engine faiss"):
        call_command(*ON_RAY, "--engine", "faiss", "--rerank", "csls")
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("installed", "environment", "message"),
    [
        ("", {}, "Ray is not installed"),
        ("2.51.1", {}, "Ray 2.51.1"),
        ("2.60.0", {"RAY_ADDRESS": "10.0.0.1:6379"}, "RAY_AUTH_MODE"),
    ],
)
def test_a_cluster_that_would_let_strangers_in_is_refused(monkeypatch, installed, environment, message):
    def version(name: str) -> str:
        if installed:
            return installed
        raise on_ray.PackageNotFoundError(name)

    monkeypatch.setattr(on_ray, "version", version)
    for name in ("RAY_ADDRESS", "RAY_AUTH_MODE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for wait in ((), ("--wait",)):
        with pytest.raises(CommandError, match=message):
            call_command(*ON_RAY, *wait)
    assert not Job.objects.exists()
