"""The jobs that count charts: the clock opens them for what is published, released or pooled, and a button does."""

from collections.abc import Iterator
from datetime import timedelta

from celery import shared_task
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from console.charts.plots import CHARTED, OF_ANNOTATORS, Charted, measure_chart, offered, state_of, stored_chart
from core import clock
from core.models import Job
from core.progress import Progress
from core.work.jobs import LIVE, JobProgress, job, open_job
from hits.models import Round

WAIT = timedelta(hours=1)
"""How old the charts of an open round become before its new data are counted."""


@job("console.tasks.chart", needs=())
def chart(job: Job, progress: JobProgress) -> str:
    """Count the charts of the thing that the job names."""
    params = job.params
    thing = CHARTED[params["kind"]].get(name=params["name"])
    trouble = count_charts(params["kind"], thing, params["annotator"], progress=progress)
    return f"There is nothing to draw. {trouble}" if trouble else "The charts are made."


def count_charts(kind: str, thing: Charted, annotator: str = "", *, progress: Progress) -> str:
    """Count the charts of a thing whose data changed, or those of one annotator; return why the last one is missing."""
    of_annotator = [subject for subject in offered(kind, thing) if (subject in OF_ANNOTATORS) == bool(annotator)]
    trouble = ""
    for subject in of_annotator:
        known = stored_chart(thing, subject, annotator)
        if known is None or not known["is_current"]:
            trouble = measure_chart(thing, subject, annotator, progress=progress)
    return trouble


def start_charts(kind: str, thing: Charted, annotator: str = "", *, by: User | None = None) -> Job:
    """Open a job that counts charts in place of the last one, or return the unfinished one."""
    known = jobs_of_charts(kind, thing, annotator)
    params = {"kind": kind, "name": thing.name, "annotator": annotator, "state": state_of(thing, "workers")}
    with transaction.atomic():
        # Of two at the same time, the second one waits and gets the job of the first.
        type(thing)._default_manager.select_for_update(no_key=True).get(pk=thing.pk)
        if live := known.filter(state__in=LIVE).first():
            return live
        known.delete()  # the list of jobs would soon consist of charts
        return open_job(f"Charts of {thing}", chart.name, params, by=by)


def jobs_of_charts(kind: str, thing: Charted, annotator: str = "") -> QuerySet[Job]:
    """Return the jobs that counted or count the charts of a thing, newest first."""
    return Job.objects.filter(task=chart.name, params__kind=kind, params__name=thing.name, params__annotator=annotator)


@shared_task(name="console.tasks.keep_charts", ignore_result=True)
def keep_charts() -> None:
    """Open jobs for the charts that are due, so that a visitor finds them. Sent by the clock."""
    for kind, thing in due_charts():
        start_charts(kind, thing)


def due_charts() -> Iterator[tuple[str, Charted]]:
    """Give what has no charts yet, rounds that were closed since, and open rounds with new data after an hour."""
    jobs = Job.objects.filter(task=chart.name, params__annotator="")
    known = {(one.params["kind"], one.params["name"]): one for one in jobs}
    for kind, things in CHARTED.items():
        for thing in things.filter(published_at__isnull=False) if kind == "round" else things:
            counted = known.get((kind, thing.name))
            if counted is None or (isinstance(thing, Round) and _is_due(thing, counted)):
                yield kind, thing


def _is_due(round: Round, counted: Job) -> bool:
    if round.closed_at:
        return counted.created_at < round.closed_at
    return clock.now() - counted.created_at > WAIT and counted.params.get("state") != state_of(round, "workers")
