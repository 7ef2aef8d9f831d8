"""Jobs of the leaderboard: register uploaded rankings, and score runs on versions."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from config.celery import app
from core.errors import CounterpartError
from core.files import StoredFile, local_copy
from core.jobs import LIVE, JobProgress, finish, open_job, running
from core.models import Job
from core.text import counted
from corpus.models import Collection
from dataset.models import Version
from evaluation.models import Run
from evaluation.runs import forget_file, register_file
from evaluation.scoring import evaluate_version, score_all_runs, score_everywhere, unscored


@app.task(name="evaluation.tasks.register")
def register(job_id: str) -> None:
    """Read an uploaded file through, register its run, and score it on every version of its collection.

    A file that is refused is removed.
    """

    def act(job: Job, progress: JobProgress) -> str:
        collection, stored = Collection.objects.named(job.params["collection"]), StoredFile(*job.params["stored"])
        name, model = job.params["file_name"], job.params["model"]
        try:
            with transaction.atomic():
                run = register_file(
                    collection, local_copy(stored), file_name=name, model=model, by=job.created_by, progress=progress
                )
                return score_everywhere(run, progress=progress)
        except CounterpartError:
            forget_file(Run(file=stored.path, sha256=stored.sha256))
            raise

    _run(job_id, act)


@app.task(name="evaluation.tasks.score_run")
def score_run(job_id: str) -> None:
    """Score a run on every version of its collection."""
    _run(job_id, lambda job, progress: score_everywhere(Run.objects.get(pk=job.params["run"]), progress=progress))


@app.task(name="evaluation.tasks.score_version")
def score_version(job_id: str) -> None:
    """Score on a version every run of its collection that is not yet."""
    _run(job_id, lambda job, progress: score_all_runs(Version.objects.named(job.params["version"]), progress=progress))


@app.task(name="evaluation.tasks.score_annotators")
def score_annotators(job_id: str) -> None:
    """Register the lists of the annotators of a version's rounds, and score them on it."""

    def act(job: Job, progress: JobProgress) -> str:
        version = Version.objects.named(job.params["version"])
        scored = evaluate_version(version, progress=progress)
        return f"{counted(len(scored), 'annotator is', 'annotators are')} scored on {version}."

    _run(job_id, act)


def start_registration(collection: Collection, stored: StoredFile, *, file_name: str, model: str, by: User) -> Job:
    """Open a job that registers an uploaded file, or return the unfinished one of the same file and name."""
    params = {
        "collection": collection.name,
        "stored": [stored.path, stored.sha256],
        "file_name": Path(file_name).name,
        "model": model,
    }
    return _start_once(collection, f"Register {model}", register.name, params, by=by)


def start_scoring_run(run: Run, *, by: User) -> Job:
    """Open a job that scores a run on every version, or return the unfinished one."""
    return _start_once(run.collection, f"Score {run}", score_run.name, {"run": run.pk}, by=by)


def start_scoring_annotators(version: Version, *, by: User) -> Job:
    """Open a job that scores the annotators of a version's rounds on it, or return the unfinished one."""
    params = {"version": version.name}
    return _start_once(version.collection, f"Score annotators on {version}", score_annotators.name, params, by=by)


def start_scoring(version: Version, *, by: User | None = None) -> Job | None:
    """Open a job that scores the registered runs on a version, or return the unfinished one; None if all are scored."""
    if not unscored(version):
        return None
    return _start_once(
        version.collection, f"Score runs on {version}", score_version.name, {"version": version.name}, by=by
    )


def _start_once(collection: Collection, title: str, task: str, params: Mapping[str, Any], *, by: User | None) -> Job:
    with transaction.atomic():
        # The lock makes a second press wait, so that it finds the job of the first one.
        Collection.objects.select_for_update(no_key=True).get(pk=collection.pk)
        live = Job.objects.filter(task=task, params=dict(params), state__in=LIVE).first()
        return live or open_job(title, task, dict(params), by=by)


def _run(job_id: str, act: Callable[[Job, JobProgress], str]) -> None:
    """Run ``act`` unless the job has ended or is running elsewhere; the sentence it returns is the job's outcome."""
    with running(job_id) as progress:
        if progress is not None:
            finish(job_id, act(Job.objects.select_related("created_by").get(pk=job_id), progress))
