"""A job of the tests, its state, and its task."""

from datetime import timedelta

from django.utils import timezone

from core.models import Event, Job
from core.work.jobs import job as job_task

State = Job.State


def age(job, **fields):
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=10), **fields)


def state_of(job):
    job.refresh_from_db()
    return job.state


def verbs(job):
    return list(Event.objects.filter(subject=f"core.job:{job.pk}").order_by("id").values_list("verb", flat=True))


@job_task("farm.tasks.count_once", needs=("hits.launch_round",))
def count_once(job, progress):
    progress("counting", job.params["sheep"], None)
    return f"{job.params['sheep']} sheep."
