"""The command retrieve --shards: who works, what is printed, what it refuses."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from core import jobs
from core.models import Job
from mitl.models import Retrieval
from mitl.search import shards as sharding
from tests.factories import make_annotator, make_collection, make_sample
from tests.mitl.searches import add_embeddings

ASKED = ("retrieve", "zoo", "--annotators", "theirs", "--depth", "3", "--shards", "2")


@pytest.fixture(autouse=True)
def zoo(db, tmp_path, monkeypatch):
    """A collection and an annotator with embeddings; no worker is there to take what is sent."""
    for module in (jobs, sharding):
        monkeypatch.setattr(module, "send", lambda job: None)
    rng = np.random.default_rng(0)
    collection = make_collection(images=5)
    make_sample(collection)
    add_embeddings(tmp_path, *(rng.standard_normal((n, 4), np.float32) for n in (5, 10)))
    return collection


def printed(capsys, *arguments: str) -> str:
    capsys.readouterr()
    call_command(*arguments)
    return capsys.readouterr().out.strip()


def test_without_wait_the_job_is_left_to_the_workers(capsys):
    out = printed(capsys, *ASKED)
    job = Job.objects.get()
    assert out.splitlines()[0] == f"Retrieve theirs over zoo: job {job.pk} is queued, 2 shards."
    assert not Retrieval.objects.exists()


def test_the_job_comes_as_figures(capsys):
    figures = json.loads(printed(capsys, *ASKED, "--json"))["theirs"]
    assert figures == {"job": str(Job.objects.get().pk), "state": "queued", "shards": 2}


def test_with_wait_the_work_is_done_here_and_told_as_ever(capsys):
    printed(capsys, *ASKED)
    figures = json.loads(printed(capsys, *ASKED, "--wait", "--json"))["theirs"]
    assert (figures["sha256"], figures["depth"], figures["kept"]) == (Retrieval.objects.get().sha256, 3, False)
    assert Job.objects.get(task=sharding.TASK).state == Job.State.DONE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*ASKED, "--queries", "queries"), "not with --queries; leave one or the other out"),
        ((*ASKED, "--engine", "faiss", "--rerank", "csls"), "not with --rerank, --engine faiss"),
        (
            (*ASKED[:3], "theirs,words", "--shards", "2"),
            "words: only searches by inner products of embeddings can be shared",
        ),
        (("retrieve", "zoo", "--annotators", "theirs", "--wait"), "--wait needs --shards N"),
    ],
)
def test_what_cannot_be_shared_is_refused_in_one_line(arguments, message):
    make_annotator("words")
    with pytest.raises(CommandError, match=message) as raised:
        call_command(*arguments)
    assert "\n" not in str(raised.value)
    assert not Job.objects.exists()
