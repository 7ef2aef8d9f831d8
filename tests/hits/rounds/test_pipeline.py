"""Planning a round in one go or as a job: whatever happens on the way, the rows at the end are the same."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from core.errors import CounterpartError
from core.models import Event, Job
from core.work.jobs import cancel, resend_stale_jobs
from corpus.models import Collection, Sample
from hits.jobs import plan_round, take_step
from hits.models import HIT, Item, Round, Seat
from hits.rounds import pipeline
from hits.rounds.packed_rounds import make_plan
from hits.rounds.pipeline import run_pipeline, start_pipeline
from hits.rounds.round_parameters import RoundParameters
from mitl.models import Pool, Proposal, Retrieval
from mitl.search.pair_scores import GROUP
from tests.factories import make_annotator, make_collection, make_sample
from tests.mitl import joint
from tests.mitl.plugged import plug_in

ACTS = ["sample_queries", "retrieve", "pool_proposals", "pack_round"]
LAST = 4  # sample, two annotators, pool, pack


@pytest.fixture
def params(db):
    make_collection("zoo", images=30)
    make_annotator("one"), make_annotator("two")
    return {
        "round": "r",
        "collection": "zoo",
        "annotators": ["one", "two"],
        "images": 12,
        "captions": 12,
        "top_k": 3,
        "control_depth": 4,
        "design": {"name": "small", "candidates": 4, "positives": 1, "negatives": 1},
        "seed": 3,
    }


@pytest.fixture
def start(params, django_capture_on_commit_callbacks):
    """Start the job and let the queue run until it is empty."""

    def started(by=None):
        with django_capture_on_commit_callbacks(execute=True):
            job = start_pipeline(RoundParameters.from_json(params), by=by)
        job.refresh_from_db()
        return job

    return started


def rows():
    """The number of rows of each table, without the journal."""
    return {
        model.__name__: model.objects.count() for model in (Sample, Retrieval, Pool, Proposal, Round, HIT, Item, Seat)
    }


def reference(params):
    """The rows and the plan of the same order run in one go, elsewhere."""
    packed = run_pipeline(RoundParameters.from_json(params), actor="ann")
    outcome = rows(), packed.plan_hash
    for model in (Seat, Item, HIT, Round, Proposal, Pool, Retrieval, Sample):
        if model is HIT:
            packed.controls.all().delete()
        model.objects.all().delete()
    return outcome


def test_a_plan_may_stop_at_the_pool_and_go_on_later(params):
    pool = run_pipeline(RoundParameters.from_json({**params, "pool_only": True}), actor="ann")
    assert (pool, Round.objects.count()) == (Pool.objects.get(name="r-pool"), 0)
    assert run_pipeline(RoundParameters.from_json(params), actor="ann").pool == pool


def test_an_existing_sample_may_be_asked(params):
    sample = make_sample(Collection.objects.get(), "mine")
    del params["images"], params["captions"]
    assert run_pipeline(RoundParameters.from_json({**params, "queries": "mine"}), actor="ann").pool.sample == sample


def test_a_job_ends_where_the_call_does(params, start):
    wanted = reference(params)
    job = start(by=User.objects.create_superuser("bo"))
    assert (job.state, job.message) == ("done", f"Round r is packed: {HIT.objects.count()} HITs.")
    assert (rows(), Round.objects.get().plan_hash) == wanted
    assert Event.objects.filter(verb="packed").first().actor == "bo"


@pytest.mark.slow
@pytest.mark.parametrize(("act", "when"), [(ACTS[0], "before"), *((act, "after") for act in ACTS)])
def test_a_job_killed_in_the_middle_and_sent_again_ends_where_it_would_have(
    params, start, monkeypatch, django_capture_on_commit_callbacks, act, when
):
    wanted = reference(params)
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, act, killed(getattr(pipeline, act), when))
        with pytest.raises(KeyboardInterrupt):
            start()
    assert Job.objects.get().state == "running"
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=10))
    with django_capture_on_commit_callbacks(execute=True):
        assert resend_stale_jobs() == 1
    assert Job.objects.get().state == "done"
    assert (rows(), Round.objects.get().plan_hash) == wanted


def killed(act, when):
    def die(*args, **kwargs):
        if when == "after":
            act(*args, **kwargs)
        raise KeyboardInterrupt

    return die


def queued(params):
    """A job whose task is not sent."""
    return Job.objects.create(title="Plan", task=pipeline.TASK, params=RoundParameters.from_json(params).as_json())


def test_a_step_makes_up_for_earlier_ones_that_were_lost(params):
    take_step(str(queued(params).pk), LAST)
    assert Job.objects.get().state == "done"
    assert Round.objects.get().pool.retrievals.count() == 2


def test_steps_that_come_twice_change_nothing(params):
    job = queued(params)
    for number in (0, 0, 1, 1, 2, 3, 3, 4, 4, 0):
        take_step(str(job.pk), number)
    assert Job.objects.get().state == "done"
    assert [Retrieval.objects.count(), Pool.objects.count(), Round.objects.count()] == [2, 1, 1]


def test_a_job_cancelled_between_two_steps_takes_no_more(params):
    job = queued(params)
    take_step(str(job.pk), 0)
    assert cancel(job, actor="bo")
    plan_round(str(job.pk))
    take_step(str(job.pk), 1)
    assert Job.objects.get().state == "cancelled"
    assert [Sample.objects.count(), Retrieval.objects.count()] == [1, 0]


def test_a_job_cancelled_inside_packing_writes_no_round(params, monkeypatch):
    job = queued(params)

    def cancelled_meanwhile(*args, **kwargs):
        cancel(job, actor="bo")
        return make_plan(*args, **kwargs)

    monkeypatch.setattr("hits.rounds.packed_rounds.make_plan", cancelled_meanwhile)
    take_step(str(job.pk), LAST)
    assert Job.objects.get().state == "cancelled"
    assert not Round.objects.exists()


def test_a_step_that_fails_ends_the_job_with_its_reason(params, start):
    params["design"] = "eccv-18"
    params["images"], params["captions"], params["top_k"] = 1, 1, 1
    job = start()
    assert job.state == "failed"
    assert "16 of one eccv-18 HIT" in job.message
    assert not Round.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "as_job"),
    [
        ({"ceiling": "0.01"}, False),
        ({"control_depth": 40}, True),
        ({"design": "eccv-18"}, True),
    ],
)
def test_a_refused_plan_leaves_no_row_and_no_file_and_a_corrected_one_succeeds(
    params, start, wrong, as_job, django_capture_on_commit_callbacks
):
    right, before = dict(params), rows()
    params |= wrong
    if wrong.get("design"):
        params |= {"images": 1, "captions": 1, "top_k": 1}
    if as_job and "control_depth" not in wrong:
        assert start().state == "failed"
    else:
        with pytest.raises(CounterpartError), django_capture_on_commit_callbacks(execute=True):
            start() if as_job else run_pipeline(RoundParameters.from_json(params), actor="ann")
    assert rows() == before
    assert not [file for file in (settings.MEDIA_ROOT / "retrievals").rglob("*") if file.is_file()]
    # Other queries than before: the names of the sample and the pool are free.
    packed = run_pipeline(RoundParameters.from_json({**right, "images": 11}), actor="ann")
    assert packed.pool.sample.images.count() == 11


def test_a_refused_plan_keeps_searches_that_scored_pair_by_pair_for_the_next(params, monkeypatch):
    monkeypatch.setattr(pipeline, "is_cross_encoder", lambda annotator: annotator.name == "two")
    with pytest.raises(CounterpartError, match="above the ceiling"):
        run_pipeline(RoundParameters.from_json({**params, "ceiling": "0.01"}), actor="ann")
    assert [Sample.objects.count(), Retrieval.objects.count(), Pool.objects.count()] == [1, 2, 0]
    kept = set(Retrieval.objects.all())
    packed = run_pipeline(RoundParameters.from_json(params), actor="ann")
    assert set(packed.pool.retrievals.all()) == kept


def test_the_task_of_a_job_that_is_gone_or_over_does_nothing(params):
    job = queued(params)
    cancel(job, actor="bo")
    plan_round(str(job.pk))
    Job.objects.all().delete()
    plan_round(str(job.pk))
    assert rows() == dict.fromkeys(rows(), 0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"collection": "moon"}, "collection 'moon'"),
        ({"annotators": ["one", "three"]}, "1 annotator is unknown: three"),
        ({"queries": "mine"}, "sample 'mine'"),
        ({"queries": "foreign"}, "foreign belongs to collection pond"),
    ],
)
def test_an_order_of_what_is_not_there_opens_no_job(params, wrong, message):
    make_sample(make_collection("pond"), "foreign")
    with pytest.raises(CounterpartError, match=message):
        start_pipeline(RoundParameters.from_json({**params, **wrong}))
    assert not Job.objects.exists()


# A planned round whose expensive annotator scores only what a quick one found


@pytest.fixture
def cascaded(db, monkeypatch):
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


def start_cascaded(cascaded) -> Job:
    """Open the job and let the queue run until it is empty."""
    job = start_pipeline(RoundParameters.from_json(cascaded))
    plan_round(str(job.pk))
    job.refresh_from_db()
    return job


def searched() -> dict[str, tuple[str | None, int | None]]:
    return {
        found.annotator.name: (found.cascade and found.cascade.name, found.cascade_depth)
        for found in Retrieval.objects.filter(depth=4)
    }


def test_a_job_asks_nothing_and_cascades_where_it_helps(cascaded):
    job = start_cascaded(cascaded)
    assert (job.state, searched()) == ("done", {"words": (None, None), "vilt": ("words", 9)})
    assert len(joint.asked()) == len(set(joint.asked())) <= 24 * 9


def test_a_job_killed_while_pairs_are_scored_scores_only_what_is_missing(cascaded, django_capture_on_commit_callbacks):
    def killed(scores):
        raise KeyboardInterrupt

    joint.at_batch[GROUP + 3] = killed
    with pytest.raises(KeyboardInterrupt):
        start_cascaded(cascaded)
    left = set(joint.asked()[: 4 * GROUP])
    joint.forget()
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=10))
    with django_capture_on_commit_callbacks(execute=True):
        assert resend_stale_jobs() == 1
    assert Job.objects.get().state == "done"
    assert not left & set(joint.asked())


def test_a_re_ranking_of_what_scores_pair_by_pair_opens_no_job(cascaded):
    with pytest.raises(CounterpartError, match="vilt: re-ranking"):
        start_pipeline(RoundParameters.from_json({**cascaded, "rerank": "csls", "cascade": None}))
    assert not Job.objects.exists()
