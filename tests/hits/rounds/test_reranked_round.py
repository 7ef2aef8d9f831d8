"""A planned round whose annotators' lists are re-ranked against hubs."""

import json

import pytest
from django.core.management import call_command

from core.errors import CounterpartError
from core.models import Job
from hits.jobs import plan_round
from hits.rounds.pipeline import start_pipeline
from hits.rounds.round_parameters import RoundParameters
from mitl.models import Pool, Retrieval
from tests.factories import make_annotator, make_collection
from tests.mitl.plugged import plug_in


@pytest.fixture
def params(db, monkeypatch):
    plug_in(monkeypatch, joint="tests.mitl.joint")
    make_collection("zoo", images=30)
    make_annotator("words")
    return {
        "round": "r",
        "collection": "zoo",
        "annotators": ["words"],
        "images": 12,
        "captions": 12,
        "top_k": 3,
        "control_depth": 4,
        "rerank": "csls:k=3,rgm",
        "design": {"name": "small", "candidates": 4, "positives": 1, "negatives": 1},
    }


@pytest.mark.slow
def test_a_job_pools_re_ranked_lists(params):
    job = start_pipeline(RoundParameters.from_json(params))
    plan_round(str(job.pk))
    job.refresh_from_db()
    assert (job.state, Pool.objects.get().retrievals.get().rerank) == ("done", "csls:k=3,rgm:k=10:relaxation=2")


def test_the_command_plans_with_a_re_ranking(params, tmp_path):
    design = tmp_path / "small.json"
    design.write_text(json.dumps(params["design"]))
    asked = ("--collection=zoo", "--annotators=words", "--images=12", "--captions=12", "--control-depth=4")
    call_command("plan_round", "r", *asked, "--rerank=is", "--top-k=3", f"--design={design}")
    assert Retrieval.objects.get().rerank == "is:beta=30"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rerank": "hungarian"}, "Unknown re-ranking step 'hungarian'"),
        ({"rerank": 3}, "Unknown re-ranking step '3'"),
        ({"engine": "faiss"}, "reads all scores on the CPU"),
        ({"annotators": ["words", "vilt"]}, "vilt: re-ranking reads all scores several times"),
    ],
)
def test_an_impossible_re_ranking_opens_no_job(params, wrong, message):
    make_annotator("vilt", "joint")
    with pytest.raises(CounterpartError, match=message):
        start_pipeline(RoundParameters.from_json({**params, **wrong}))
    assert not Job.objects.exists()
