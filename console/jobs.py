"""The jobs behind pages: charts, trust in a version, parts of rounds' pages, and mail with a link to set a password."""

from django.contrib.auth.models import User

from console import upload_jobs  # noqa: F401  a worker finds the jobs of uploads here
from console.charts import chart_jobs  # noqa: F401  and those of charts
from console.people import staff  # noqa: F401  and the mail with a link to set a password
from console.trust.trust_figures import measure_trust
from core.errors import CounterpartError
from core.models import Job
from core.work.jobs import JobProgress, job, open_once
from dataset.models import Version
from evaluation.scores.scoring import evaluate_version


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
