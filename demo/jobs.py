"""The job that loads the demo into an empty site."""

from django.contrib.auth.models import User

from core.errors import CounterpartError
from core.jobs import LIVE, JobProgress, job, open_job
from core.models import Job
from corpus.models import Collection


@job("demo.tasks.load")
def load(job: Job, progress: JobProgress) -> str:
    """Make all that the demo shows. What an earlier run made is used."""
    from demo.walkthrough import demonstrate  # with torch and httpx, which no page waits for

    check_empty()
    figures = demonstrate(progress=progress)
    return f"The demo is loaded: {figures.judged:,} judged pairs, {figures.positives:,} matches."


def start_loading(*, by: User) -> Job:
    """Open the job, or return the unfinished one. Raises CounterpartError for a site with collections of its own."""
    check_empty()
    return Job.objects.filter(task=load.name, state__in=LIVE).first() or open_job("Load the demo", load.name, {}, by=by)


def check_empty() -> None:
    """Raise CounterpartError for a site with collections of its own."""
    from demo.walkthrough import COLLECTION

    if others := Collection.objects.exclude(name=COLLECTION).count():
        raise CounterpartError(f"This site has {others:,} collections of its own. Load the demo into an empty site.")
