"""Jobs whose worker was lost, and those of a worker that is stopped."""

import os
import time
from datetime import timedelta

import pytest
from celery.signals import worker_shutting_down
from django.utils import timezone

from core.errors import CounterpartError
from core.models import Job
from core.work import jobs
from core.work.jobs import Cancelled, cancel, finish, resend_stale_jobs, running
from tests.core.farm import State, age, count_once, state_of, verbs

pytestmark = pytest.mark.usefixtures("sent")


def test_a_lost_job_is_sent_again(job, sent, commit):
    age(job, state=State.RUNNING)
    with commit(execute=True):
        assert [resend_stale_jobs(), resend_stale_jobs()] == [1, 0]
    assert sent == [job.pk]
    assert (state_of(job), job.attempts) == (State.QUEUED, 1)


def test_a_job_with_a_fresh_sign_of_life_is_left_alone(job, sent):
    with running(job.pk):
        assert resend_stale_jobs() == 0
    assert sent == []


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
    assert (state_of(job), "5 times" in job.message) == (State.FAILED, True)


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
    """Let this process stop, as SIGTERM does with a worker."""
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
