"""The command plan_round: the whole pipeline, here or in the background."""

import json

import pytest
from django.core.management import call_command

from core.models import Job
from core.work import jobs
from hits.models import Round
from mitl.models import Pool, Retrieval
from tests.factories import make_annotator, make_collection

ZOO = ["--collection=zoo", "--annotators=one,two", "--images=12", "--captions=12", "--control-depth=4", "--top-k=3"]


@pytest.fixture(autouse=True)
def zoo(db):
    make_collection("zoo", images=30)
    make_annotator("one"), make_annotator("two")


def plan(capsys, *arguments):
    call_command("plan_round", *arguments, "--json")
    return json.loads(capsys.readouterr().out)


def test_one_command_plans_a_round(capsys):
    figures = plan(capsys, "r", *ZOO, "--top-k", "2", "--seed", "2")
    packed = Round.objects.get()
    assert (figures["round"], figures["hits"], packed.seed, packed.pool.top_k) == ("r", packed.hits.count(), 2, 2)


def test_in_the_background_nothing_is_done_before_a_worker_takes_the_job(capsys, monkeypatch):
    monkeypatch.setattr(jobs, "send", lambda job: None)
    printed = plan(capsys, "r", *ZOO, "--background")
    job = Job.objects.get(pk=printed["job"])
    assert (job.state, job.title) == ("queued", "Plan round r")
    assert not Pool.objects.exists()


def test_a_re_ranking_reaches_the_searches(capsys):
    plan(capsys, "r", *ZOO, "--annotators=one", "--rerank=is")
    assert Retrieval.objects.get().rerank == "is:beta=30"
