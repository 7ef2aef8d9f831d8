"""The jobs behind pages: charts, trust in a version, and mail to people who forgot their password."""

from celery import shared_task
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponseRedirect
from django.urls import reverse

from console import upload_jobs  # noqa: F401  a worker finds the jobs of uploads here
from console.charts.measured_charts import measure_chart
from console.charts.plots import CHARTED, Charted, state_of
from console.people import staff
from console.rounds import design_bases  # noqa: F401  and the job of designs
from console.trust.trust_figures import measure_trust
from core.jobs import LIVE, JobProgress, job, open_job, open_once
from core.models import Job
from dataset.models import Version


def follow(job: Job) -> HttpResponseRedirect:
    """Show a job to who started it: once it is done, the page leads on to what it made."""
    return HttpResponseRedirect(f"{reverse('job', args=[job.pk])}?follow=yes")


@shared_task(name="console.tasks.mail_forgotten", ignore_result=True)
def mail_forgotten(email: str) -> None:
    """Mail a password link to the account with this address. No job, as nobody may see whether it was sent."""
    staff.mail_forgotten(email)


@job("console.tasks.trust")
def trust(job: Job, progress: JobProgress) -> str:
    """Measure how far to trust the version that the job names."""
    version = Version.objects.named(job.params["version"])
    measure_trust(version, progress=progress)
    return f"Bias and completeness of version {version} are measured."


def start_measuring(version: Version, *, by: User) -> Job:
    """Open a job that measures how far to trust the version, or return the unfinished one."""
    return open_once(f"Measure trust in {version}", trust.name, {"version": version.name}, lock=version, by=by)


@job("console.tasks.chart")
def chart(job: Job, progress: JobProgress) -> str:
    """Make the chart that the job describes."""
    params = job.params
    thing = CHARTED[params["kind"]].get(name=params["name"])
    trouble = measure_chart(thing, params["subject"], params["annotator"], progress=progress)
    return f"There is nothing to draw. {trouble}" if trouble else "The chart is made."


def start_chart(kind: str, thing: Charted, subject: str, annotator: str, *, by: User) -> Job:
    """Open a job that makes a chart in place of the last one, or return the unfinished one."""
    params = {"kind": kind, "name": thing.name, "subject": subject, "annotator": annotator}
    with transaction.atomic():
        # Of two visitors at once the second one waits, and finds the job of the first.
        type(thing)._default_manager.select_for_update(no_key=True).get(pk=thing.pk)
        known = jobs_of_chart(kind, thing, subject, annotator)
        if live := known.filter(state__in=LIVE).first():
            return live
        known.delete()  # or the list of jobs would soon be one of charts
        title = f"Chart {subject} of {thing}"
        return open_job(title, chart.name, {**params, "state": state_of(thing, subject)}, by=by)


def jobs_of_chart(kind: str, thing: Charted, subject: str, annotator: str) -> QuerySet[Job]:
    """Return the jobs that made or make a chart, newest first. Their ``state`` is that of its data as they began."""
    params = {"kind": kind, "name": thing.name, "subject": subject, "annotator": annotator}
    return Job.objects.filter(task=chart.name, **{f"params__{name}": value for name, value in params.items()})
