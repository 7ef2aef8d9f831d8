"""The life of a job: whoever works on it, whatever happens to them."""

import os
import time
from datetime import timedelta

import pytest
from celery.signals import worker_shutting_down
from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

from config.celery import app
from core import jobs
from core.errors import CounterpartError
from core.jobs import Cancelled, cancel, finish, open_job, open_once, resend_stale_jobs, running
from core.jobs import job as job_task
from core.models import Event, Job
from tests.at_once import at_once

State = Job.State
really_send = jobs.send


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """The ids of the jobs sent, instead of sending them."""
    ids = []
    monkeypatch.setattr(jobs, "send", lambda job: ids.append(job.pk))
    return ids


@pytest.fixture
def user(db):
    return User.objects.create(username="ann")


@pytest.fixture
def job(db):
    return open_job("Count the sheep", "farm.tasks.count", {"sheep": 3})


def age(job, **fields):
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=10), **fields)


def state_of(job):
    job.refresh_from_db()
    return job.state


def verbs(job):
    return list(Event.objects.filter(subject=f"core.job:{job.pk}").order_by("id").values_list("verb", flat=True))


def test_a_job_is_sent_once_what_opened_it_has_committed(db, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        job = open_job("Count", "farm.tasks.count", {})
        assert sent == []
    assert sent == [job.pk]


def test_a_job_that_no_broker_takes_is_opened_and_sent_later(db, sent, monkeypatch, django_capture_on_commit_callbacks):
    def refuse(job):
        raise ConnectionError("the broker is not there")

    with monkeypatch.context() as patch, django_capture_on_commit_callbacks(execute=True):
        patch.setattr(jobs, "send", refuse)
        job = open_job("Count", "farm.tasks.count", {})
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=5))
    with django_capture_on_commit_callbacks(execute=True):
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


def test_progress_is_written_where_a_page_reads_it(job):
    with running(job.pk) as progress:
        progress("counting", 2, 8)
        job.refresh_from_db()
        assert (job.state, job.step, job.done, job.total, job.share) == (State.RUNNING, "counting", 2, 8, 0.25)


def test_progress_is_written_at_most_twice_a_second_but_the_end_always(job, django_assert_num_queries):
    with running(job.pk) as progress, django_assert_num_queries(2):
        for done in range(1, 101):
            progress("counting", done, 100)


@pytest.mark.service
def test_progress_within_a_long_transaction_is_seen_and_the_job_can_be_cancelled_meanwhile(transactional_db):
    if connection.vendor == "sqlite":
        pytest.skip("on SQLite nobody else can write during a transaction")
    job = Job.objects.create(title="Release", task="farm.tasks.release")
    with running(job.pk) as progress, transaction.atomic():
        User.objects.create_user("half done")
        progress("releasing", 1, 2)
        seen, asked = at_once(lambda: Job.objects.get(pk=job.pk).step, lambda: cancel(job, actor="bo"))
        assert (seen, asked) == ("releasing", True)
        progress("releasing", 2, 2)
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


def test_a_step_with_a_long_name_is_shortened(job):
    with running(job.pk) as progress:
        progress("x" * 300, 0, None)
    job.refresh_from_db()
    assert job.step == "x" * 100


def test_between_its_tasks_a_job_is_queued(job):
    with running(job.pk):
        assert state_of(job) == State.RUNNING
    assert state_of(job) == State.QUEUED


def test_the_last_task_finishes_the_job(job):
    with running(job.pk):
        finish(job.pk, "3 sheep.")
    assert state_of(job) == State.DONE
    assert (job.message, job.is_live, job.finished_at is None) == ("3 sheep.", False, False)
    assert verbs(job) == ["opened", "done"]


def test_a_job_finishes_once(job):
    finish(job.pk, "3 sheep.")
    finish(job.pk, "4 sheep.")
    assert (state_of(job), job.message) == (State.DONE, "3 sheep.")


def test_a_task_of_a_job_that_has_ended_finds_nothing_to_do(job):
    finish(job.pk, "3 sheep.")
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
        raise CounterpartError("3 sheep lack wool.")
    assert (state_of(job), job.message) == (State.FAILED, "3 sheep lack wool.")


def test_an_unclear_error_is_raised_and_the_job_tells_where_to_look(job):
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


def test_a_running_job_stops_at_its_next_word_of_progress(job):
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


def test_a_job_that_ended_cannot_be_cancelled(job):
    finish(job.pk, "3 sheep.")
    assert not cancel(job, actor="bo")
    assert state_of(job) == State.DONE


def test_a_lost_job_is_sent_again(job, sent, django_capture_on_commit_callbacks):
    age(job, state=State.RUNNING)
    with django_capture_on_commit_callbacks(execute=True):
        assert resend_stale_jobs() == 1
    assert sent == [job.pk]
    assert (state_of(job), job.attempts) == (State.QUEUED, 1)


def test_a_job_with_a_fresh_sign_of_life_is_left_alone(job, sent):
    with running(job.pk):
        assert resend_stale_jobs() == 0
    assert sent == []


def test_a_healed_job_is_not_sent_twice(job):
    age(job, state=State.RUNNING)
    assert [resend_stale_jobs(), resend_stale_jobs()] == [1, 0]


def test_a_job_that_waits_long_for_its_turn_loses_no_attempt(job):
    for _ in range(jobs.MAX_ATTEMPTS + 2):
        age(job)
        assert resend_stale_jobs() == 1
    assert (state_of(job), job.attempts) == (State.QUEUED, 0)


def test_a_job_that_is_lost_again_and_again_fails(job):
    for _ in range(jobs.MAX_ATTEMPTS):
        age(job, state=State.RUNNING)
        resend_stale_jobs()
    age(job, state=State.RUNNING)
    assert resend_stale_jobs() == 0
    assert (state_of(job), job.message) == (
        State.FAILED,
        "Lost 5 times without finishing. See the worker's log.",
    )


def test_a_task_given_up_for_lost_stops_and_leaves_the_job_to_its_successor(job):
    with running(job.pk) as lost:
        age(job)
        resend_stale_jobs()
        with running(job.pk) as successor:
            successor("counting", 1, 2)
            with pytest.raises(Cancelled):
                lost("counting", 2, 2)
            assert state_of(job) == State.RUNNING


def test_the_error_of_a_task_given_up_for_lost_does_not_fail_the_job(job):
    with running(job.pk):
        age(job)
        resend_stale_jobs()
        raise CounterpartError("too late")
    assert state_of(job) == State.QUEUED


def test_a_lost_job_that_was_asked_to_stop_is_cancelled_when_sent_again(job):
    age(job, state=State.RUNNING, cancel_requested=True)
    resend_stale_jobs()
    with running(job.pk) as progress:
        assert progress is None
    assert state_of(job) == State.CANCELLED


def test_a_job_that_reports_while_it_is_taken_for_lost_is_left_alone(job, sent):
    Job.objects.update(state=State.RUNNING, heartbeat_at=timezone.now() - timedelta(hours=1))
    stale = Job.objects.get(pk=job.pk)
    Job.objects.update(heartbeat_at=timezone.now())
    assert not jobs._resend(stale)
    assert (state_of(job), sent) == (State.RUNNING, [])


@pytest.fixture
def stopped():
    """Tell this process to stop, as SIGTERM tells a worker."""
    yield jobs.stop_jobs
    jobs._stopping[0] = 0


def test_a_worker_that_is_stopped_hands_its_job_back_without_the_loss_of_an_attempt(job, sent, stopped, commit):
    sent.clear()
    with commit(execute=True), running(job.pk) as progress:
        stopped()
        progress("counting", 1, 2)
        pytest.fail("went on")
    assert (state_of(job), job.attempts, sent) == (State.QUEUED, 0, [job.pk])
    assert verbs(job) == ["opened", "handed back"]


def test_the_processes_that_a_worker_forked_know_that_it_is_stopped(stopped):
    child = os.fork()
    if not child:
        for _ in range(10_000):
            if jobs.is_stopping():
                os._exit(0)
            time.sleep(0.001)
        os._exit(1)
    worker_shutting_down.send(sender="w1@here", sig="SIGTERM", how="Warm", exitcode=0)
    assert os.waitpid(child, 0) == (child, 0)


def test_a_worker_that_is_stopped_starts_nothing_of_what_it_had_taken(job, sent, stopped, commit):
    stopped()
    with commit(execute=True):
        count_once(str(job.pk))
    assert (state_of(job), job.step, sent[-1]) == (State.QUEUED, "", job.pk)


def test_a_job_that_ends_while_its_worker_is_stopped_is_not_done_again(job, sent, stopped, commit):
    sent.clear()
    with commit(execute=True), running(job.pk):
        stopped()
        finish(job.pk, "3 sheep.")
    assert (state_of(job), sent) == (State.DONE, [])


def test_a_job_that_was_asked_to_stop_is_cancelled_and_not_handed_back(job, sent, stopped, commit):
    sent.clear()
    with commit(execute=True), running(job.pk) as progress:
        cancel(job, actor="bo")
        stopped()
        progress("counting", 1, 2)
    assert (state_of(job), sent) == (State.CANCELLED, [])


def test_a_task_given_up_for_lost_hands_back_nothing_of_its_successor(job, sent, stopped, commit):
    sent.clear()
    with commit(execute=True), running(job.pk) as lost:
        Job.objects.update(attempts=1)  # The reconciler took the task for lost, and a successor runs.
        stopped()
        lost("counting", 2, 2)
    assert (state_of(job), sent) == (State.RUNNING, [])


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


@job_task("farm.tasks.count_once")
def count_once(job, progress):
    progress("counting", job.params["sheep"], None)
    return f"{job.params['sheep']} sheep."


def test_the_sentence_of_the_work_becomes_the_outcome_of_the_job(job):
    count_once(str(job.pk))
    assert (state_of(job), job.message) == (State.DONE, "3 sheep.")


def test_the_work_of_an_ended_job_is_not_done_again(job):
    finish(job.pk, "Counted by hand.")
    count_once(str(job.pk))
    job.refresh_from_db()
    assert (job.step, job.message) == ("", "Counted by hand.")
