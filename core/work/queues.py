"""The queues of tasks: which one a task waits in, and how many jobs wait and run in each."""

from dataclasses import dataclass
from datetime import datetime

from celery import current_app
from django.conf import settings
from django.db.models import Count, Min, Q

from core.models import Job
from core.work.jobs import LIVE


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
