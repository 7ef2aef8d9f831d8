"""Jobs whose worker was lost or stopped, and whether who asked for a job still may."""

import os
import time
from datetime import timedelta

import pytest
from celery.signals import worker_shutting_down
from django.contrib.auth.models import Group, User
from django.utils import timezone

from console.api.access_tokens import make_token, revoke_token
from console.people.staff import change
from core.errors import CounterpartError
from core.models import Job
from core.work import jobs
from core.work.jobs import Cancelled, cancel, finish, open_job, resend_stale_jobs, running
from integrations.models import Token
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


# A job asks at each of its runs whether who asked for it still may; what no account asked for is the operator's


@pytest.fixture
def author(db) -> User:
    """A researcher, calling with a token."""
    made = User.objects.create_user("ana")
    made.groups.add(Group.objects.get(name="researcher"))
    token, _ = make_token(made, "night job", ["rounds:spend"])
    made.asks_with = {"token": token.pk, "scope": "rounds:spend"}
    return made


@pytest.fixture
def job(author) -> Job:
    return open_job("Count the sheep", count_once.name, {"sheep": 3}, by=author)


def lose_role(author: User) -> None:
    change(author, roles=[], active=True, by=User.objects.create_superuser("root"))


def expire(author: User) -> None:
    Token.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


LOST = {
    "The role of ana no longer allows this": lose_role,
    "The account ana is deactivated": lambda author: User.objects.filter(pk=author.pk).update(is_active=False),
    "The account ana was removed": lambda author: author.delete(),
    "The token night job (cp_…) is revoked": lambda author: revoke_token(Token.objects.get(), by=author),
    "The token night job (cp_…) is expired": expire,
    "The token night job (cp_…) no longer has the scope rounds:spend": lambda _: Token.objects.update(scopes=[]),
    "The token that asked for this was removed": lambda _: Token.objects.all().delete(),
}


def message_of(job: Job) -> str:
    """The message of a job, without the identifier of its token."""
    job.refresh_from_db()
    found = Token.objects.first()
    return job.message.replace(found.identifier, "") if found else job.message


@pytest.mark.parametrize("reason", LOST)
def test_a_job_whose_author_may_not_ask_for_it_any_more_fails_with_the_reason(job, author, reason):
    LOST[reason](author)
    count_once(str(job.pk))
    assert state_of(job) == State.FAILED
    assert message_of(job) == f"{reason}, so this job stopped. A person who may do it has to start it again."


def test_a_job_that_is_sent_again_is_asked_again(job, author, commit):
    age(job, state=State.RUNNING)
    lose_role(author)
    with commit(execute=True):
        assert resend_stale_jobs() == 1
    count_once(str(job.pk))
    assert state_of(job) == State.FAILED


@pytest.mark.parametrize("whose", ["a token's", "a person's", "the operator's"])
def test_a_job_whose_author_still_may_or_that_is_the_operators_is_done(author, whose):
    if whose == "a person's":
        del author.asks_with
        Token.objects.all().delete()
    job = open_job("Count the sheep", count_once.name, {"sheep": 3}, by=None if whose == "the operator's" else author)
    count_once(str(job.pk))
    assert (state_of(job), job.message) == (State.DONE, "3 sheep.")
