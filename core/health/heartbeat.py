"""The queues of tasks: whether tasks can be sent, whether workers run them, and how many jobs wait and run in each."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from socket import gethostname

from celery import current_app, shared_task
from django.conf import settings
from django.db.models import Count, Min, Q
from django.db.models.functions import Now

from core import clock
from core.errors import one_line
from core.models import Heartbeat, Job
from core.text import counted
from core.work.jobs import LIVE

MISSED = 3  # beats, after which a queue counts as stopped


def broker_trouble() -> str:
    """Return why no task can be sent; empty if one can."""
    if not settings.REDIS_URL:
        folder = Path(str(settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_out"]))
        return "" if os.access(folder, os.W_OK) else f"{folder} cannot be written"
    try:
        with current_app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, timeout=3)
    except Exception as error:
        return one_line(error)
    return ""


@shared_task(name="core.tasks.heartbeat")
def beat() -> None:
    """Note that the clock has sent a task and a worker of this computer has run it."""
    sign = {"at": Now(), "by": gethostname()[:100]}
    Heartbeat.objects.update_or_create(pk=Heartbeat.QUEUE, defaults=sign)


def last_beat() -> datetime | None:
    return Heartbeat.objects.filter(pk=Heartbeat.QUEUE).values_list("at", flat=True).first()


def queue_has_stopped() -> bool:
    """Whether no worker has given a sign of life lately: it has run no task of the clock, and is busy with no job."""
    last = last_beat()
    return (last is None or last < clock.now() - _patience()) and busy_with() is None


def busy_with() -> Job | None:
    """Return a job that reports its progress now: its worker runs, and the clock's tasks may wait behind it."""
    fresh = Job.objects.filter(state=Job.State.RUNNING, heartbeat_at__gte=clock.now() - _patience())
    return fresh.order_by("-heartbeat_at").first()


def _patience() -> timedelta:
    return timedelta(seconds=max(60, MISSED * settings.RECONCILE_SECONDS))


def find_queue() -> Iterator[tuple[str, str]]:
    if trouble := broker_trouble():
        yield trouble, "REDIS_URL=redis://host:6379/0"
        return
    last = last_beat()
    when = f"last at {last:%Y-%m-%d %H:%M:%S} UTC" if last else "never"
    if not queue_has_stopped():
        job = busy_with()
        yield f"a worker is busy with {job.title}; {when}" if job else f"worker and clock run; {when}", ""
    elif current_app.control.ping(timeout=2):
        yield f"A worker runs, but no scheduled task ({when}).", "celery -A config beat"
    else:
        yield f"No worker runs scheduled tasks ({when}).", "celery -A config worker --beat"
    for queue, jobs in _unserved().items():
        found = f"No worker serves the queue {queue}, in which {counted(jobs, 'job')} wait."
        yield found, f"celery -A config worker -Q {queue}"


def _unserved() -> dict[str, int]:
    """Return the queues that no worker serves → how many jobs wait in them."""
    waiting = {queue: load.waiting for queue, load in loads().items() if load.waiting and not load.running}
    workers = (current_app.control.inspect(timeout=2).active_queues() or {}) if waiting else {}
    served = {queue["name"] for queues in workers.values() for queue in queues}
    return {queue: jobs for queue, jobs in waiting.items() if queue not in served}


@dataclass
class Load:
    """The live jobs of one queue; ``oldest``: when the first of those that wait was opened, None if none waits."""

    waiting: int = 0
    running: int = 0
    oldest: datetime | None = None


def queue_of(task: str) -> str:
    """Return the queue into which the routes of the settings send the task."""
    name: str = current_app.amqp.router.route({}, task)["queue"].name
    return name


def loads() -> dict[str, Load]:
    """Return the load of every queue, by the rows of jobs; other tasks, such as calls to platforms, have none."""
    found = {queue: Load() for queue in settings.QUEUES}
    queued = Q(state=Job.State.QUEUED)
    rows = Job.objects.filter(state__in=LIVE).order_by().values("task")
    for row in rows.annotate(
        waiting=Count("pk", filter=queued), running=Count("pk", filter=~queued), oldest=Min("created_at", filter=queued)
    ):
        load = found[queue_of(row["task"])]
        load.waiting += row["waiting"]
        load.running += row["running"]
        load.oldest = min(filter(None, (load.oldest, row["oldest"])), default=None)
    return found
