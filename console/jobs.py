"""The jobs behind pages: charts, trust in a version, parts of rounds' pages, and mail with a link to set a password."""

from celery import shared_task
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model, QuerySet

from console import upload_jobs  # noqa: F401  a worker finds the jobs of uploads here
from console.charts.plots import CHARTED, Charted, measure_chart, state_of
from console.people import staff
from console.trust.round_parts import PARTS, count_part, state_of_part
from console.trust.trust_figures import measure_trust
from core.errors import CounterpartError
from core.models import Job
from core.work.jobs import LIVE, JobProgress, job, open_job, open_once
from dataset.models import Version
from evaluation.scores.scoring import evaluate_version
from hits.models import Round


@shared_task(name="console.tasks.mail_forgotten", ignore_result=True)
def mail_forgotten(email: str) -> None:
    """Mail a password link to the account with this address. Not a job: it would show whether there is an account."""
    staff.mail_forgotten(email)


@job("console.tasks.trust", needs=("hits.launch_round",))
def trust(job: Job, progress: JobProgress) -> str:
    """Score the annotators of the version that the job names, and measure its completeness and bias."""
    version = Version.objects.named(job.params["version"])
    try:
        evaluate_version(version, progress=progress)
        measure_trust(version, progress=progress)
    except CounterpartError as error:  # a version without annotators or judgments is measured as far as it can be
        return f"Not everything of {version} could be measured. {error}"
    return f"Scores, completeness and bias of {version} are measured."


def start_measuring(version: Version, *, by: User | None) -> Job:
    """Open a job that measures how good the version is, or return the unfinished one."""
    return open_once(f"Measure {version}", trust.name, {"version": version.name}, lock=version, by=by)


@job("console.tasks.chart", needs=())
def chart(job: Job, progress: JobProgress) -> str:
    """Make the chart that the job describes."""
    params = job.params
    thing = CHARTED[params["kind"]].get(name=params["name"])
    trouble = measure_chart(thing, params["subject"], params["annotator"], progress=progress)
    return f"There is nothing to draw. {trouble}" if trouble else "The chart is made."


def start_chart(kind: str, thing: Charted, subject: str, annotator: str, *, by: User) -> Job:
    """Open a job that makes a chart in place of the last one, or return the unfinished one."""
    params = {"kind": kind, "name": thing.name, "subject": subject, "annotator": annotator}
    known = jobs_of_chart(kind, thing, subject, annotator)
    params["state"] = state_of(thing, subject)
    return _replace(f"Chart {subject} of {thing}", chart.name, params, known, lock=thing, by=by)


def jobs_of_chart(kind: str, thing: Charted, subject: str, annotator: str) -> QuerySet[Job]:
    """Return the jobs that made or make a chart, newest first. Their ``state`` is that of its data as they began."""
    params = {"kind": kind, "name": thing.name, "subject": subject, "annotator": annotator}
    return Job.objects.filter(task=chart.name, **{f"params__{name}": value for name, value in params.items()})


@job("console.tasks.round_part", needs=())
def round_part(job: Job, progress: JobProgress) -> str:
    """Count the part of a round's pages that the job names."""
    found = Round.objects.select_related("pool__collection", "pool__sample").get(name=job.params["round"])
    count_part(found, job.params["part"], progress=progress)
    return f"{PARTS[job.params['part']].title} of {found}: counted."


def start_part(found: Round, part: str, *, by: User) -> Job:
    """Open a job that counts a part of a round's pages in place of the last count, or return the unfinished one."""
    params = {"round": found.name, "part": part, "state": state_of_part(found)}
    title = f"{PARTS[part].title} of {found}"
    return _replace(title, round_part.name, params, jobs_of_part(found, part), lock=found, by=by)


def jobs_of_part(found: Round, part: str) -> QuerySet[Job]:
    """Return the jobs that counted or count a part, newest first. Their ``state`` is that of its data as they began."""
    return Job.objects.filter(task=round_part.name, params__round=found.name, params__part=part)


def _replace(title: str, task: str, params: dict[str, str], known: QuerySet[Job], *, lock: Model, by: User) -> Job:
    """Open a job in place of the ``known`` ones, or return the unfinished one among them."""
    with transaction.atomic():
        # Of two visitors at the same time, the second one waits and gets the job of the first.
        type(lock)._default_manager.select_for_update(no_key=True).get(pk=lock.pk)
        if live := known.filter(state__in=LIVE).first():
            return live
        known.delete()  # the list of jobs would soon consist of charts
        return open_job(title, task, params, by=by)
