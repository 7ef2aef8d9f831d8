"""The jobs on versions and runs: register uploaded rankings, score runs on versions, verify a version."""

from pathlib import Path

from celery import shared_task
from django.contrib.auth.models import User

from core.errors import CounterpartError
from core.files.stored_files import StoredFile, local_copy
from core.models import Job
from core.text import counted
from core.work.jobs import JobProgress, job, open_once
from corpus.models import Collection
from dataset.models import Version
from dataset.releases.verification import verify_version
from evaluation.asking.greedy_rounds import ask_in_open_rounds
from evaluation.auditing.score_guards import rounds_to_guard
from evaluation.models import Run
from evaluation.scores.runs import forget_file, open_file, open_run
from evaluation.scores.score_checks import check_scores
from evaluation.scores.scoring import evaluate_version, score_all_runs, score_everywhere, unscored


@job("evaluation.tasks.register", needs=("hits.launch_round",))
def register(job: Job, progress: JobProgress) -> str:
    """Read an uploaded file through, register its run, and score it on every version of its collection.

    A file that is refused is removed.
    """
    collection = Collection.objects.named(job.params["collection"])
    stored = StoredFile(*job.params["stored"])
    name = job.params["file_name"]
    model = job.params["model"]
    try:
        path = local_copy(stored)
        opened = open_file(collection, path, file_name=name, model=model, by=job.created_by, progress=progress)
        return score_everywhere(opened)
    except CounterpartError:
        forget_file(Run(file=stored.path, sha256=stored.sha256))
        raise


@shared_task(name="evaluation.tasks.ask_likely_matches")
def ask() -> None:
    """Ask the next likely matches in rounds of audit+greedy."""
    ask_in_open_rounds()


@job("evaluation.tasks.score_run", needs=("hits.launch_round",))
def score_run(job: Job, progress: JobProgress) -> str:
    """Score a run on every version of its collection."""
    return score_everywhere(open_run(Run.objects.get(pk=job.params["run"]), progress=progress))


@job("evaluation.tasks.score_version", needs=("hits.launch_round",))
def score_version(job: Job, progress: JobProgress) -> str:
    """Score on a version every run of its collection that is not yet."""
    return score_all_runs(Version.objects.named(job.params["version"]), progress=progress)


@job("evaluation.tasks.score_annotators", needs=("hits.launch_round",))
def score_annotators(job: Job, progress: JobProgress) -> str:
    """Register the lists of the annotators of a version's rounds, and score them on it."""
    version = Version.objects.named(job.params["version"])
    scored = evaluate_version(version, progress=progress)
    return f"{counted(len(scored), 'annotator is', 'annotators are')} scored on {version}."


@job("console.tasks.verify", needs=("hits.launch_round",))
def verify(job: Job, progress: JobProgress) -> str:
    """Verify the version that the job names; problems are the message of a failed job."""
    version = Version.objects.get(name=job.params["version"])
    checks = [*verify_version(version, progress=progress), check_scores(version, progress=progress)]
    if problems := [problem for check in checks for problem in check.problems]:
        raise CounterpartError(f"Version {version} does not verify. {' '.join(problems)}")
    notes = " ".join(note for check in checks for note in check.notes)
    return f"Version {version} was rebuilt, and everything is as released. {notes}".strip()


def start_registration(collection: Collection, stored: StoredFile, *, file_name: str, model: str, by: User) -> Job:
    """Open a job that registers an uploaded file, or return the unfinished one of the same file and name."""
    params = {
        "collection": collection.name,
        "stored": [stored.path, stored.sha256],
        "files": {"rankings": {"path": stored.path}},  # an upload is kept for as long as the job waits
        "file_name": Path(file_name).name,
        "model": model,
    }
    return open_once(f"Register {model}", register.name, params, lock=collection, by=by)


def start_scoring_run(run: Run, *, by: User) -> Job:
    """Open a job that scores a run on every version, or return the unfinished one."""
    return open_once(f"Score {run}", score_run.name, {"run": run.pk}, lock=run.collection, by=by)


def start_scoring_annotators(version: Version, *, by: User) -> Job:
    """Open a job that scores the annotators of a version's rounds on it, or return the unfinished one."""
    title = f"Score annotators on {version}"
    return open_once(title, score_annotators.name, {"version": version.name}, lock=version.collection, by=by)


def start_scoring(version: Version) -> Job | None:
    """Open a job that scores the other runs on a version and guards the scores, or return the unfinished one."""
    if not unscored(version) and not rounds_to_guard(version):
        return None
    params = {"version": version.name}
    return open_once(f"Score runs on {version}", score_version.name, params, lock=version.collection)


def start_verification(version: Version, *, by: User) -> Job:
    """Open a job that verifies the version, or return the unfinished one."""
    return open_once(f"Verify {version}", verify.name, {"version": version.name}, lock=version, by=by)


def last_verification(version: Version) -> Job | None:
    """Return the latest job that verified the version to the end."""
    ended = (Job.State.DONE, Job.State.FAILED)
    verified = Job.objects.filter(task=verify.name, params__version=version.name, state__in=ended)
    return verified.order_by("-finished_at").first()
