"""A planned round whose expensive annotator scores only what a quick one found."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.errors import CounterpartError
from core.models import Job
from core.work.jobs import resend_stale_jobs
from hits.jobs import plan_round
from hits.rounds.pipeline import start_pipeline
from hits.rounds.round_parameters import RoundParameters
from mitl.models import Retrieval
from mitl.search.pair_scores import GROUP
from tests.factories import make_annotator, make_collection
from tests.mitl import joint
from tests.mitl.plugged import plug_in


@pytest.fixture
def params(db, monkeypatch):
    plug_in(monkeypatch, joint="tests.mitl.joint")
    joint.forget()
    make_collection("zoo", images=30)
    make_annotator("words"), make_annotator("vilt", "joint")
    return {
        "round": "r",
        "collection": "zoo",
        "annotators": ["words", "vilt"],
        "images": 12,
        "captions": 12,
        "top_k": 3,
        "control_depth": 4,
        "cascade": "words",
        "cascade_depth": 9,
        "design": {"name": "small", "candidates": 4, "positives": 1, "negatives": 1},
    }


def start(params) -> Job:
    """Open the job and let the queue run until it is empty."""
    job = start_pipeline(RoundParameters.from_json(params))
    plan_round(str(job.pk))
    job.refresh_from_db()
    return job


def searched() -> dict[str, tuple[str | None, int | None]]:
    return {
        found.annotator.name: (found.cascade and found.cascade.name, found.cascade_depth)
        for found in Retrieval.objects.filter(depth=4)
    }


def test_a_job_asks_nothing_and_cascades_where_it_helps(params):
    job = start(params)
    assert (job.state, searched()) == ("done", {"words": (None, None), "vilt": ("words", 9)})
    assert len(joint.asked()) == len(set(joint.asked())) <= 24 * 9


def test_a_job_killed_while_pairs_are_scored_scores_only_what_is_missing(params, django_capture_on_commit_callbacks):
    def killed(scores):
        raise KeyboardInterrupt

    joint.at_batch[GROUP + 3] = killed
    with pytest.raises(KeyboardInterrupt):
        start(params)
    left = set(joint.asked()[: 4 * GROUP])
    joint.forget()
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=10))
    with django_capture_on_commit_callbacks(execute=True):
        assert resend_stale_jobs() == 1
    assert Job.objects.get().state == "done"
    assert not left & set(joint.asked())


def test_a_re_ranking_of_what_scores_pair_by_pair_opens_no_job(params):
    with pytest.raises(CounterpartError, match="vilt: re-ranking"):
        start_pipeline(RoundParameters.from_json({**params, "rerank": "csls", "cascade": None}))
    assert not Job.objects.exists()
