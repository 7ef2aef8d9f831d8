"""How far a job is, on the screen: with tqdm if it is installed, otherwise in one line of stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from counterpart_client.http_calls import ClientError
from counterpart_client.models import JobAnswer


class JobFailed(ClientError):  # noqa: N818  what happened, on the site
    """A job failed or was cancelled: ``job`` is the site's description of it."""

    def __init__(self, job: JobAnswer) -> None:
        super().__init__(f"{job.title}: {job.message}")
        self.job = job


@contextmanager
def job_bar(visible: bool) -> Iterator[Callable[[JobAnswer], None]]:
    """Give a function that shows how far a job is."""
    if not visible:
        yield lambda job: None
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield _write_line
        sys.stderr.write("\n")
        return
    with tqdm(leave=True) as bar:

        def show(job: JobAnswer) -> None:
            bar.set_description_str(": ".join(filter(None, (job.title, job.step))), refresh=False)
            bar.total = job.total
            bar.n = job.done
            bar.refresh()

        yield show


def _write_line(job: JobAnswer) -> None:
    of = f" of {job.total:,}" if job.total else ""
    sys.stderr.write(f"\r\033[K{job.title}: {job.step or job.state} {job.done:,}{of}")
    sys.stderr.flush()
