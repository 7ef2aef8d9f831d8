"""The job that loads the demo into an empty site."""

from django.contrib.auth.models import Group, User

from console.permissions import ADMIN
from core.errors import CounterpartError
from core.models import Job
from core.work.jobs import JobProgress, job, open_once
from corpus.models import Collection


@job("demo.tasks.load", needs=("hits.launch_round",), acts=True)
def load(job: Job, progress: JobProgress) -> str:
    """Create everything that the demo shows, and reuse the results of an earlier run."""
    from demo.walkthrough import demonstrate  # with torch and httpx, which no page waits for

    check_empty()
    figures = demonstrate(progress=progress)
    return f"The demo is loaded: {figures.judged:,} judged pairs, {figures.positives:,} matches."


def start_loading(*, by: User) -> Job:
    """Open the job, or return the unfinished one. Raises CounterpartError for a site with collections of its own."""
    check_empty()
    return open_once("Load the demo", load.name, {}, lock=Group.objects.get(name=ADMIN), by=by)  # any row of every site


def check_empty() -> None:
    """Raise CounterpartError for a site with collections of its own."""
    from demo.walkthrough import COLLECTION

    if others := Collection.objects.exclude(name=COLLECTION).count():
        raise CounterpartError(f"This site has {others:,} collections of its own. Load the demo into an empty site.")
