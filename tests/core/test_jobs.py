"""The life of a job: opening, progress, outcome and cancelling."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

from config.celery import app
from core.errors import CounterpartError
from core.models import Event, Job
from core.work import jobs
from core.work.jobs import cancel, finish, open_job, open_once, resend_stale_jobs, running
from tests.at_once import at_once
from tests.core.farm import State, age, state_of, verbs

pytestmark = pytest.mark.usefixtures("sent")
really_send = jobs.send


def test_a_job_is_sent_once_what_opened_it_has_committed(db, sent, commit):
    with commit(execute=True):
        job = open_job("Count", "farm.tasks.count", {})
        assert sent == []
    assert sent == [job.pk]


def test_a_job_that_no_broker_takes_is_opened_and_sent_later(db, sent, monkeypatch, commit):
    def refuse(job):
        raise ConnectionError("the broker is not there")

    with monkeypatch.context() as patch, commit(execute=True):
        patch.setattr(jobs, "send", refuse)
        job = open_job("Count", "farm.tasks.count", {})
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=5))
    with commit(execute=True):
        resend_stale_jobs()
    assert sent == [job.pk]


def test_a_job_remembers_who_opened_it_and_with_what(db):
    user = User.objects.create_user("bo")
    job = open_job("Count", "farm.tasks.count", {"sheep": 3}, by=user)
    assert (job.created_by, job.params, job.state) == (user, {"sheep": 3}, State.QUEUED)
    assert Event.objects.get().actor == "bo"


def test_the_task_goes_out_with_the_jobs_id(db):
    seen = []

    @app.task(name="tests.count")
    def count(job_id):
        seen.append(job_id)

    really_send(job := Job.objects.create(title="Count", task=count.name))
    assert seen == [str(job.pk)]


def test_progress_is_written_where_a_page_reads_it_and_a_long_step_shortened(job):
    with running(job.pk) as progress:
        progress("counting", 2, 8)
        job.refresh_from_db()
        assert (job.state, job.step, job.done, job.total, job.share) == (State.RUNNING, "counting", 2, 8, 0.25)
    assert state_of(job) == State.QUEUED  # for its next task
    with running(job.pk) as progress:
        progress("x" * 300, 0, None)
    job.refresh_from_db()
    assert job.step == "x" * 100


def test_progress_is_written_at_most_twice_a_second_but_the_end_always(job, django_assert_num_queries):
    with running(job.pk) as progress, django_assert_num_queries(2):
        for done in range(1, 101):
            progress("counting", done, 100)


@pytest.mark.service
def test_progress_within_a_long_transaction_is_seen_and_the_job_can_be_cancelled_meanwhile(transactional_db):
    if connection.vendor == "sqlite":
        pytest.skip("on SQLite no other process can write during a transaction")
    job = Job.objects.create(title="Release", task="farm.tasks.release")
    with running(job.pk) as progress, transaction.atomic():
        User.objects.create_user("half done")
        progress("writing pairs", 1, 2)
        seen, asked = at_once(lambda: Job.objects.get(pk=job.pk).step, lambda: cancel(job, actor="bo"))
        assert (seen, asked) == ("writing pairs", True)
        progress("writing pairs", 2, 2)
    assert state_of(job) == State.CANCELLED
    assert not User.objects.exists()


@pytest.mark.service
def test_the_reconciler_waits_for_no_locked_job(transactional_db):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite locks no rows")
    job = Job.objects.create(title="Release", task="farm.tasks.release")
    age(job, state=State.RUNNING)
    with transaction.atomic():
        Job.objects.filter(pk=job.pk).update(params={"changed": True})
        assert at_once(resend_stale_jobs) == [0]


def test_the_last_task_finishes_the_job(job):
    with running(job.pk):
        finish(job.pk, "3 sheep.")
    assert state_of(job) == State.DONE
    assert (job.message, job.is_live, job.finished_at is None) == ("3 sheep.", False, False)
    assert verbs(job) == ["opened", "done"]


def test_a_job_ends_once_and_its_task_then_finds_nothing_to_do(job):
    finish(job.pk, "3 sheep.")
    finish(job.pk, "4 sheep.")
    assert not cancel(job, actor="bo")
    assert (state_of(job), job.message) == (State.DONE, "3 sheep.")
    with running(job.pk) as progress:
        assert progress is None
    assert state_of(job) == State.DONE


def test_two_tasks_never_work_on_one_job_at_a_time(job):
    with running(job.pk) as first, running(job.pk) as second:
        assert first is not None
        assert second is None
        first("counting", 1, 2)


def test_a_clear_error_becomes_the_jobs_message(job):
    with running(job.pk):
        raise CounterpartError("3 sheep have no wool.")
    assert (state_of(job), job.message) == (State.FAILED, "3 sheep have no wool.")


def test_an_unclear_error_is_raised_and_the_job_says_where_to_look(job):
    with pytest.raises(ZeroDivisionError), running(job.pk):
        1 / 0  # noqa: B018
    assert (state_of(job), job.message) == (State.FAILED, "Unexpected ZeroDivisionError. The log has the details.")


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_job_whose_database_connection_was_cut_is_sent_again(job, error):
    with pytest.raises(error), running(job.pk):
        raise error("server closed the connection unexpectedly")
    assert state_of(job) == State.RUNNING
    age(job)
    assert resend_stale_jobs() == 1
    assert state_of(job) == State.QUEUED


def test_a_queued_job_is_cancelled_at_once(job):
    assert cancel(job, actor="bo")
    assert state_of(job) == State.CANCELLED
    assert Event.objects.first().actor == "bo"


def test_a_running_job_stops_at_its_next_report_of_progress(job):
    with running(job.pk) as progress:
        assert cancel(job, actor="bo")
        assert state_of(job) == State.RUNNING
        progress("counting", 1, 2)
        pytest.fail("went on")
    assert state_of(job) == State.CANCELLED
    assert verbs(job) == ["opened", "cancel requested", "cancelled"]


def test_a_job_cancelled_in_a_silent_step_does_not_go_on_to_the_next(job):
    with running(job.pk):
        cancel(job, actor="bo")
    assert state_of(job) == State.CANCELLED
    with running(job.pk) as progress:
        assert progress is None


def test_a_second_press_finds_the_unfinished_job_of_the_first(db, user):
    first = open_once("Count", "farm.tasks.count", {"farm": "a", "sheep": 3}, lock=user)
    assert open_once("Count", "farm.tasks.count", {"farm": "a", "sheep": 3}, lock=user) == first
    assert open_once("Count", "farm.tasks.count", {"farm": "a", "sheep": 4}, lock=user, same=["farm"]) == first
    assert open_once("Count", "farm.tasks.count", {"farm": "b", "sheep": 3}, lock=user) != first


def test_a_press_after_the_end_opens_a_new_job(db, user):
    first = open_once("Count", "farm.tasks.count", {}, lock=user)
    with running(first.pk):
        finish(first.pk, "Counted.")
    assert open_once("Count", "farm.tasks.count", {}, lock=user) != first
