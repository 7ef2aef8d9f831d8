"""Which tasks wait behind which, and how many jobs wait and run in each queue."""

from datetime import timedelta

import pytest
from django.utils import timezone

from config.celery import app
from core.health.heartbeat import Load, loads, queue_of
from core.models import Job

State = Job.State


def test_every_task_of_ours_is_in_a_route_so_that_none_waits_in_a_queue_by_chance():
    app.loader.import_default_modules()
    ours = [name for name in app.tasks if not name.startswith(("celery.", "tests.", "farm."))]
    assert len(ours) > 30
    assert [name for name in ours if app.amqp.router.routes[0](name) is None] == []
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= {*ours}


@pytest.mark.parametrize(
    ("queue", "tasks"),
    {
        "default": ["core.tasks.heartbeat", "crowd.tasks.reconcile", "console.tasks.mail_forgotten", "not.ours"],
        "crowd": ["crowd.tasks.sync_one", "crowd.tasks.make_wanted_calls", "console.tasks.top_up"],
        "exports": ["console.tasks.release", "console.tasks.import_collection", "evaluation.tasks.score_run"],
        "retrieval": ["mitl.tasks.search_shard", "hits.tasks.take_step", "dataset.tasks.turn"],
    }.items(),
)
def test_each_kind_of_work_waits_in_its_own_queue(queue, tasks):
    assert [queue_of(task) for task in tasks] == [queue] * len(tasks)


def test_a_worker_that_names_no_queue_serves_all_and_one_of_a_misspelt_queue_does_not_start(settings):
    queues = app.amqp.Queues(settings.CELERY_TASK_QUEUES)
    assert {*queues.consume_from} == {*settings.QUEUES}
    with pytest.raises(KeyError):
        queues.select(["retreival"])


def test_jobs_are_counted_in_the_queue_of_their_task(db):
    now = timezone.now()
    for task, state, minutes in (
        ("mitl.tasks.train", State.QUEUED, 5),
        ("mitl.tasks.share_retrieval", State.QUEUED, 9),
        ("mitl.tasks.train", State.RUNNING, 60),
        ("console.tasks.sync", State.RUNNING, 1),
        ("console.tasks.release", State.DONE, 1),
    ):
        Job.objects.create(title="work", task=task, state=state, created_at=now - timedelta(minutes=minutes))
    assert loads() == {
        "default": Load(),
        "crowd": Load(running=1),
        "exports": Load(),
        "retrieval": Load(waiting=2, running=1, oldest=now - timedelta(minutes=9)),
    }
