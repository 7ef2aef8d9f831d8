"""Background jobs that staff start from a page: releasing and exporting versions, pay, and the work on a platform."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.wages import pay_shortfall
from config.celery import app
from console import benchmark_boards, staff
from console.measured_charts import measure_chart
from console.platform_jobs import audit_round, close_on_platform, publish_on_platform, repair_round, sync_on_platform
from console.plots import THINGS, Thing, state_of
from console.trust_figures import measure_trust
from console.upload_jobs import (
    Files,
    annotator_from_upload,
    import_from_upload,
    judgments_from_upload,
    matches_from_upload,
)
from console.uploads import opened_uploads, remove_uploads
from core.errors import CounterpartError
from core.jobs import LIVE, JobProgress, finish, open_job, running
from core.models import Job
from core.text import counted
from corpus.models import Collection, Sample
from crowd.models import Audit
from dataset.cases import update_queue
from dataset.cleanup import suggest_clean_up
from dataset.credits import Credits
from dataset.exports.downloads import make_download
from dataset.models import Version
from dataset.release import release_version
from dataset.verification import verify_version
from evaluation.score_checks import check_scores
from hits.models import Round
from hits.round_parameters import PackParameters
from hits.rounds import pack_round
from mitl.models import Pool


@app.task(name="console.tasks.mail_forgotten", ignore_result=True)
def mail_forgotten(email: str) -> None:
    """Mail a password link to the account with this address. No job, as nobody may see whether it was sent."""
    staff.mail_forgotten(email)


@app.task(name="console.tasks.release")
def release(job_id: str) -> None:
    """Release the version that the job describes, unless an earlier run already has."""

    def act(job: Job, progress: JobProgress) -> str:
        name = job.params["version"]
        of_this_job = Version.objects.filter(released_by=job.created_by, released_at__gte=job.created_at)
        if not of_this_job.filter(name=name).exists():
            _release(job, progress)
        return f"Version {name} is released."

    _run(job_id, act)


@app.task(name="console.tasks.export")
def export(job_id: str) -> None:
    """Make a download of a version, unless an earlier run already has."""

    def act(job: Job, progress: JobProgress) -> str:
        made = make_download(Version.objects.named(job.params["version"]), job.params["what"], progress=progress)
        return f"{made.file_name} is ready to download. SHA-256 {made.sha256}."

    _run(job_id, act)


@app.task(name="console.tasks.clean_up")
def clean_up(job_id: str) -> None:
    """Look for captions and pictures of a collection that a person should look at."""

    def act(job: Job, progress: JobProgress) -> str:
        counts = suggest_clean_up(Collection.objects.named(job.params["collection"]), progress=progress)
        kinds = ("meaningless", "suspicious", "duplicate")
        return f"Waiting for a review: {', '.join(f'{counts[kind]:,} {kind}' for kind in kinds)}."

    _run(job_id, act)


@app.task(name="console.tasks.import_collection")
def import_collection(job_id: str) -> None:
    """Import uploaded captions, pictures or both into a collection."""
    _run_with_uploads(job_id, import_from_upload)


@app.task(name="console.tasks.import_matches")
def import_matches(job_id: str) -> None:
    """Import uploaded matches into a collection."""
    _run_with_uploads(job_id, matches_from_upload)


@app.task(name="console.tasks.import_judgments")
def import_judgments(job_id: str) -> None:
    """Take uploaded judgments into a round."""
    _run_with_uploads(job_id, judgments_from_upload)


@app.task(name="console.tasks.measure_rankings")
def measure_rankings(job_id: str) -> None:
    """Score uploaded rankings or a search on named benchmarks."""
    _run_with_uploads(job_id, benchmark_boards.measure_rankings)


@app.task(name="console.tasks.add_annotator")
def add_annotator(job_id: str) -> None:
    """Add an annotator, with uploaded weights, embeddings or lists if there are any."""
    _run_with_uploads(job_id, annotator_from_upload)


@app.task(name="console.tasks.verify")
def verify(job_id: str) -> None:
    """Verify the version that the job names; problems are the message of a failed job."""

    def act(job: Job, progress: JobProgress) -> str:
        version = Version.objects.get(name=job.params["version"])
        checks = [*verify_version(version, progress=progress), check_scores(version, progress=progress)]
        if problems := [problem for check in checks for problem in check.problems]:
            raise CounterpartError(f"Version {version} does not verify. {' '.join(problems)}")
        notes = " ".join(note for check in checks for note in check.notes)
        return f"Version {version} was rebuilt, and everything is as released. {notes}".strip()

    _run(job_id, act)


@app.task(name="console.tasks.trust")
def trust(job_id: str) -> None:
    """Measure how far to trust the version that the job names."""

    def act(job: Job, progress: JobProgress) -> str:
        version = Version.objects.named(job.params["version"])
        measure_trust(version, progress=progress)
        return f"Bias and completeness of version {version} are measured."

    _run(job_id, act)


@app.task(name="console.tasks.chart")
def chart(job_id: str) -> None:
    """Make the chart that the job describes."""

    def act(job: Job, progress: JobProgress) -> str:
        params = job.params
        thing = THINGS[params["kind"]].get(name=params["name"])
        trouble = measure_chart(thing, params["subject"], params["annotator"], progress=progress)
        return f"There is nothing to draw. {trouble}" if trouble else "The chart is made."

    _run(job_id, act)


@app.task(name="console.tasks.pack")
def pack(job_id: str) -> None:
    """Pack a pool into the round that the job describes, unless an earlier run already has."""

    def act(job: Job, progress: JobProgress) -> str:
        pool = Pool.objects.named(job.params["pool"])
        parameters = PackParameters.from_json(job.params["parameters"])
        made = pack_round(job.params["round"], pool, parameters, actor=job.actor, progress=progress)
        return f"Round {made} is packed: {counted(made.summary['hits'], 'HIT')}."

    _run(job_id, act)


@app.task(name="console.tasks.publish")
def publish(job_id: str) -> None:
    """Publish a round on a platform."""
    _run(job_id, lambda job, progress: publish_on_platform(job.params, actor=job.actor, progress=progress))


@app.task(name="console.tasks.sync")
def sync(job_id: str) -> None:
    """Synchronize a round with its platform."""
    _run(job_id, lambda job, progress: sync_on_platform(_round(job), progress=progress))


@app.task(name="console.tasks.close")
def close(job_id: str) -> None:
    """Close a round and end its postings; its disagreements enter the reviewers' queue."""

    def act(job: Job, progress: JobProgress) -> str:
        outcome = close_on_platform(_round(job), actor=job.actor, progress=progress)
        update_queue(_round(job))
        return outcome

    _run(job_id, act)


@app.task(name="console.tasks.audit")
def audit(job_id: str) -> None:
    """Compare a round with its platform."""
    _run(job_id, lambda job, progress: audit_round(_round(job), actor=job.actor, progress=progress))


@app.task(name="console.tasks.repair")
def repair(job_id: str) -> None:
    """Repair the differences that an audit lists."""

    def act(job: Job, progress: JobProgress) -> str:
        listed = Audit.objects.select_related("round").get(pk=job.params["audit"])
        return repair_round(listed, actor=job.actor, progress=progress)

    _run(job_id, act)


@app.task(name="console.tasks.top_up")
def top_up(job_id: str) -> None:
    """Owe each paid worker of a round what the reward falls short of the wage floor, once."""

    def act(job: Job, progress: JobProgress) -> str:
        given = pay_shortfall(_round(job), actor=job.actor, progress=progress)
        if not given.assignments:
            return "No assignment falls short of the wage floor any more."
        owed = counted(given.assignments, "assignment is", "assignments are")
        return f"{owed} owed ${given.bonus} more each, ${given.total} in all."

    _run(job_id, act)


def start_once(title: str, task: str, round: Round, *, by: User, **params: Any) -> Job:
    """Open a job for the round, or return the unfinished one of the same kind (a button may be pressed twice)."""
    with transaction.atomic():
        # The lock makes a second press wait, so that it finds the job of the first one.
        Round.objects.select_for_update(no_key=True).get(pk=round.pk)
        live = Job.objects.filter(task=task, params__round=round.name, state__in=LIVE).first()
        return live or open_job(title, task, {"round": round.name, **params}, by=by)


def start_chart(kind: str, thing: Thing, subject: str, annotator: str, *, by: User) -> Job:
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


def jobs_of_chart(kind: str, thing: Thing, subject: str, annotator: str) -> QuerySet[Job]:
    """Return the jobs that made or make a chart, newest first. Their ``state`` is that of its data as they began."""
    params = {"kind": kind, "name": thing.name, "subject": subject, "annotator": annotator}
    return Job.objects.filter(task=chart.name, **{f"params__{name}": value for name, value in params.items()})


def start_packing(round: str, pool: Pool, parameters: PackParameters, *, by: User) -> Job:
    """Open a job that packs the pool into a draft round."""
    params = {"round": round, "pool": pool.name, "parameters": parameters.as_json()}
    return open_job(f"Pack {pool} into {round}", pack.name, params, by=by)


def start_release(sample: Sample, params: dict[str, Any], *, by: User) -> Job:
    """Open a job that releases a version, or return the unfinished one. Raises CounterpartError while a job releases
    another version by the same name."""
    name = params["version"]
    with transaction.atomic():
        Collection.objects.select_for_update(no_key=True).get(pk=sample.collection_id)
        live = Job.objects.filter(task=release.name, params__version=name, state__in=LIVE).first()
        if live and live.params != params:
            raise CounterpartError(f"A version {name} is being released already. Choose another name.")
        return live or open_job(f"Release {name}", release.name, params, by=by)


def start_export(version: Version, what: str, *, by: User) -> Job:
    """Open a job that makes a download of the version, or return the unfinished one."""
    return _start_for(version, f"Export {version} as {what}", export.name, by=by, what=what)


def start_verification(version: Version, *, by: User) -> Job:
    """Open a job that verifies the version, or return the unfinished one."""
    return _start_for(version, f"Verify {version}", verify.name, by=by)


def start_measuring(version: Version, *, by: User) -> Job:
    """Open a job that measures how far to trust the version, or return the unfinished one."""
    return _start_for(version, f"Measure trust in {version}", trust.name, by=by)


def last_verification(version: Version) -> Job | None:
    """Return the latest job that verified the version to the end."""
    ended = Job.objects.filter(
        task=verify.name, params__version=version.name, state__in=(Job.State.DONE, Job.State.FAILED)
    )
    return ended.order_by("-finished_at").first()


def _start_for(version: Version, title: str, task: str, *, by: User, **params: Any) -> Job:
    with transaction.atomic():
        Version.objects.select_for_update(no_key=True).get(pk=version.pk)
        live = Job.objects.filter(task=task, params={"version": version.name, **params}, state__in=LIVE).first()
        return live or open_job(title, task, {"version": version.name, **params}, by=by)


def _run(job_id: str, act: Callable[[Job, JobProgress], str]) -> None:
    """Run ``act`` unless the job has ended or is running elsewhere; the sentence it returns is the job's outcome."""
    with running(job_id) as progress:
        if progress is not None:
            finish(job_id, act(Job.objects.select_related("created_by").get(pk=job_id), progress))


def _run_with_uploads(job_id: str, act: Callable[[Job, Files, JobProgress], str]) -> None:
    """Run ``act`` on the files that came with the job, and remove them when the job has ended."""

    def with_files(job: Job, progress: JobProgress) -> str:
        with opened_uploads(job) as files:
            return act(job, files, progress)

    try:
        _run(job_id, with_files)
    finally:
        remove_uploads(job_id)


def _round(job: Job) -> Round:
    return Round.objects.named(job.params["round"])


def _release(job: Job, progress: JobProgress) -> None:
    params = job.params
    sample = Sample.objects.select_related("collection").get(name=params["sample"])
    release_version(
        params["version"],
        collection=sample.collection,
        sample=sample,
        rounds=list(Round.objects.filter(name__in=params["rounds"])),
        **params["options"],
        credits=Credits.from_json(params.get("credits", {})),
        released_by=job.created_by,
        progress=progress,
    )
