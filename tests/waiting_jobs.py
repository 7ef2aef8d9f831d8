"""Included in a worker by -I tests.waiting_jobs: a job that takes as long as a test wants, and a record of how long the
syncs of rounds wait in their queue."""

import os
import time
from pathlib import Path
from typing import Any

from celery.signals import before_task_publish, task_prerun

from core.models import Job
from core.work.jobs import JobProgress, job

SYNC = "crowd.tasks.sync_one"


@job("mitl.tasks.wait", needs=())
def wait(job: Job, progress: JobProgress) -> str:
    """Work like a long search, as far as a queue can see: until a file exists."""
    while not Path(job.params["until"]).exists():
        progress("searching", 0, None)
        time.sleep(0.1)
    return "Found."


@before_task_publish.connect
def stamp(headers: dict[str, Any], **_: object) -> None:
    headers["sent_at"] = time.time()


@task_prerun.connect
def note(task: Any, **_: object) -> None:
    """Add a line with the seconds between the sending of a sync and its start."""
    if task.name == SYNC and "WAITS" in os.environ:
        with Path(os.environ["WAITS"]).open("a") as waits:
            waits.write(f"{time.time() - task.request.sent_at}\n")
