"""The life cycle of a Job: open, run, report progress, cancel, finish; every change is a conditional update."""

import logging
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import wraps
from mmap import mmap
from time import monotonic
from typing import Any
from uuid import UUID

from celery import Task, current_app, shared_task
from celery.signals import worker_shutting_down
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Model, QuerySet
from django.dispatch import Signal

from core import clock
from core.errors import DATABASE_LOST, CounterpartError, outage_of
from core.events import record
from core.models import Job
from core.work.authority import KINDS, JobKind, asked_by, lost_authority, on_behalf_of_author

logger = logging.getLogger(__name__)

STALE_AFTER = timedelta(minutes=2)
MAX_ATTEMPTS = 5
STEP_LENGTH = 100  # length of the column
LIVE = (Job.State.QUEUED, Job.State.RUNNING)

ended = Signal()
"""Sent in the transaction in which a job (``job``) ends, for the apps above."""

# One byte that the worker shares with the processes it forks: only the worker itself receives SIGTERM.
_stopping = mmap(-1, 1)


class Cancelled(Exception):  # noqa: N818  a request, not an error
    """A user asked for this job to stop."""


class HandedBack(Cancelled):
    """This worker is being stopped, so another one has to go on with the job."""


@worker_shutting_down.connect
def stop_jobs(**_: object) -> None:
    """Let the jobs of this worker stop at their next report of progress and wait for another worker."""
    _stopping[0] = 1


def is_stopping() -> bool:
    """Whether the worker of this process is being stopped."""
    return bool(_stopping[0])


def open_job(title: str, task: str, params: dict[str, Any], *, by: User | None = None) -> Job:
    """Create a queued job and send its task once the surrounding transaction has committed."""
    with transaction.atomic():
        job = Job.objects.create(title=title, task=task, params=params, created_by=by, asked=asked_by(by))
        record("opened", job, actor=str(by or "command"), title=title)
        # Robust: if the broker is down, the failure is logged, the job exists, and the reconciler sends it later.
        transaction.on_commit(lambda: send(job), robust=True)
    return job


def open_once(
    title: str, task: str, params: dict[str, Any], *, lock: Model, same: Collection[str] = (), by: User | None = None
) -> Job:
    """Open a job, or return the unfinished one of the task with these parameters: a button may be pressed twice.

    The second of two presses waits for ``lock``, a row that both are about, and finds the job of the first. If
    ``same`` is given, only the parameters that it names have to be equal.
    """
    identity = {f"params__{name}": params[name] for name in same} if same else {"params": params}
    with transaction.atomic():
        # `type` of a page's user is that of a lazy object.
        lock.__class__._default_manager.select_for_update(no_key=True).get(pk=lock.pk)
        live = Job.objects.filter(task=task, state__in=LIVE, **identity).first()
        return live or open_job(title, task, params, by=by)


def send(job: Job) -> None:
    """Put the job's task on the queue. Safe to repeat: only one task of a job runs at a time, and a task whose job
    has ended returns at once."""
    current_app.signature(job.task, args=[str(job.pk)]).apply_async()


def cancel(job: Job, *, actor: str) -> bool:
    """Ask a running job to stop at its next safe point; a queued job stops at once. False if it had ended."""
    if _end(job.pk, Job.State.CANCELLED, "Cancelled.", actor=actor, only_if={"state": Job.State.QUEUED}):
        return True
    with transaction.atomic():
        asked = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, cancel_requested=False)
        if asked.update(cancel_requested=True):
            record("cancel requested", job, actor=actor)
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, cancel_requested=True).exists()


class JobProgress:
    """Writes progress into a Job row, at most twice a second. Raises Cancelled when a user asked the job to stop, or
    when this attempt was considered lost and another one may be running; HandedBack when the worker is being stopped.
    """

    def __init__(self, job_id: UUID | str, attempt: int) -> None:
        self._mine = {"pk": job_id, "state": Job.State.RUNNING, "attempts": attempt}
        self._written = 0.0
        self._step = ""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        if is_stopping():
            raise HandedBack
        if step == self._step and monotonic() - self._written < 0.5 and done != total:
            return
        self._step = step
        self._written = monotonic()
        live = Job.objects.filter(**self._mine, cancel_requested=False)
        news = {"step": step[:STEP_LENGTH], "done": done, "total": total, "heartbeat_at": clock.now()}
        if not _write_now(lambda: live.update(**news)):
            raise Cancelled


@contextmanager
def running(job_id: UUID | str) -> Iterator[JobProgress | None]:
    """Run one task of a queued job.

    Yields None if there is nothing to do: the job has ended, another task of it is running, or the person who started
    it may no longer do so (``core.work.authority``), which fails it. A CounterpartError becomes the job's message;
    any other error is logged and raised again. After an error of the database itself the
    reconciler sends the job again. On success the job is queued again for its next task; the last task calls
    ``finish``. A job that is handed back is sent again, without the loss of an attempt.
    """
    job = _start(job_id)
    if job is None:
        yield None
        return
    attempt = job.attempts
    mine = {"attempts": attempt}
    try:
        with on_behalf_of_author(job):
            yield JobProgress(job_id, attempt)
        _queue_again(job_id, attempt)
    except HandedBack:
        _hand_back(job_id, attempt)
    except Cancelled:
        _end(job_id, Job.State.CANCELLED, "Cancelled.", only_if={"cancel_requested": True, **mine})
    except CounterpartError as error:
        _end(job_id, Job.State.FAILED, str(error), only_if=mine)
    except DATABASE_LOST:
        # The connection to the database was cut: this attempt is as lost as one that was killed.
        logger.exception("job %s lost its database", job_id)
        raise
    except Exception as error:
        _end(job_id, Job.State.FAILED, _explain(error), only_if=mine)
        logger.exception("job %s failed", job_id)
        raise


def _explain(error: Exception) -> str:
    outage = outage_of(error)
    if outage == "full disk":
        return "The disk of the site is full. Free some space, then start this again."
    if outage == "read-only storage":
        return "The storage of the site is read-only: it can be read, but nothing can be added."
    return f"Unexpected {type(error).__name__}. The log has the details."


def job(
    name: str, *, needs: tuple[str, ...], acts: bool = False, last: Callable[[str], None] | None = None
) -> Callable[[Callable[[Job, JobProgress], str]], Task]:
    """Make a Celery task of a function that does the work of a job and returns its outcome in a sentence.

    ``needs`` and ``acts`` say who may ask for it (``core.work.authority.JobKind``).

    The function runs only if the job has not ended and no other process runs it. It may run again after a process was
    lost, so it has to find what an earlier run did. ``last`` is called with the job's id at the end of every run.
    """

    KINDS[name] = JobKind(needs, acts)

    def make(work: Callable[[Job, JobProgress], str]) -> Task:
        @wraps(work)
        def run(job_id: str) -> None:
            try:
                with running(job_id) as progress:
                    if progress is not None:
                        finish(job_id, work(Job.objects.select_related("created_by").get(pk=job_id), progress))
            finally:
                if last:
                    last(job_id)

        return shared_task(name=name)(run)

    return make


def finish(job_id: UUID | str, message: str) -> None:
    """Mark a job as done. Does nothing if it has ended."""
    _end(job_id, Job.State.DONE, message)


def resend_stale_jobs() -> int:
    """Send jobs with an old heartbeat again; fail a job whose process was lost MAX_ATTEMPTS times.

    Waiting in the queue costs no attempt. Returns the number of jobs sent."""
    return sum(_resend(job) for job in stale_jobs())


def stale_jobs() -> QuerySet[Job]:
    """Return the live jobs without a sign of life for STALE_AFTER: no worker process has run them meanwhile."""
    return Job.objects.filter(state__in=LIVE, heartbeat_at__lt=clock.now() - STALE_AFTER)


def _write_now(write: Callable[[], int]) -> int:
    """Commit ``write`` at once, even inside the caller's transaction. That one would keep the change invisible and the
    row locked until its end: *Cancel* and the reconciler would wait for it.

    A thread has a connection of its own. Not on SQLite: there a transaction that writes holds the lock on the whole
    database, so a second connection could only wait for the first, and no other one could change the row anyway.
    """
    if connection.vendor == "sqlite" or not connection.in_atomic_block:
        return write()

    def write_and_close() -> int:
        try:
            return write()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(write_and_close).result()


def _start(job_id: UUID | str) -> Job | None:
    """Start a queued job and return it, or None if it cannot be started."""
    queued = Job.objects.filter(pk=job_id, state=Job.State.QUEUED)
    if queued.filter(cancel_requested=False).update(state=Job.State.RUNNING, heartbeat_at=clock.now()):
        job = Job.objects.get(pk=job_id)
        lost = lost_authority(job)
        if not lost:
            return job
        _end(job_id, Job.State.FAILED, lost, only_if={"attempts": job.attempts})
        return None
    _end(job_id, Job.State.CANCELLED, "Cancelled.", only_if={"state": Job.State.QUEUED, "cancel_requested": True})
    return None


def _queue_again(job_id: UUID | str, attempt: int) -> bool:
    """Queue a running job for its next task, unless a user asked it to stop. False if it is not ours to queue."""
    mine = Job.objects.filter(pk=job_id, state=Job.State.RUNNING, attempts=attempt)
    if mine.filter(cancel_requested=False).update(state=Job.State.QUEUED, heartbeat_at=clock.now()):
        return True
    _end(job_id, Job.State.CANCELLED, "Cancelled.", only_if={"cancel_requested": True, "attempts": attempt})
    return False


@transaction.atomic
def _hand_back(job_id: UUID | str, attempt: int) -> None:
    if _queue_again(job_id, attempt):
        job = Job.objects.get(pk=job_id)
        record("handed back", job, actor="task")
        # Robust: if the broker is down, the reconciler sends the job later.
        transaction.on_commit(lambda: send(job), robust=True)


@transaction.atomic
def _end(
    job_id: UUID | str, state: Job.State, message: str, *, actor: str = "task", only_if: dict[str, Any] | None = None
) -> bool:
    live = Job.objects.filter(pk=job_id, state__in=LIVE).filter(**(only_if or {}))
    if not live.update(state=state, message=message, finished_at=clock.now()):
        return False
    job = Job.objects.get(pk=job_id)
    record(state.value, job, actor=actor, message=message)
    ended.send(Job, job=job)
    transaction.on_commit(lambda: _log(job), robust=True)
    return True


def _log(job: Job) -> None:
    """Write one line for a job that has ended; its title and message may name people."""
    seconds = round((clock.now() - job.created_at).total_seconds(), 1)
    fields = {"job": str(job.pk), "task": job.task, "state": job.state, "attempts": job.attempts, "seconds": seconds}
    logger.info("%s", " ".join(map(str, fields.values())), extra={"fields": fields})


@transaction.atomic
def _resend(job: Job) -> bool:
    lost = job.state == Job.State.RUNNING
    unchanged = {"state": job.state, "heartbeat_at": job.heartbeat_at}
    # A row that is locked is being changed.
    if not Job.objects.select_for_update(skip_locked=True, of=("self",)).filter(pk=job.pk, **unchanged).first():
        return False
    if lost and job.attempts >= MAX_ATTEMPTS:
        message = f"Lost {MAX_ATTEMPTS} times without finishing. See the worker's log."
        _end(job.pk, Job.State.FAILED, message, actor="reconciler", only_if=unchanged)
        return False
    waiting = {"state": Job.State.QUEUED, "heartbeat_at": clock.now(), "attempts": job.attempts + lost}
    Job.objects.filter(pk=job.pk).update(**waiting)
    record("resent", job, actor="reconciler", lost=lost)
    transaction.on_commit(lambda: send(job))
    return True
