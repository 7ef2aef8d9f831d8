"""Serves the site as config/gunicorn.py says, with a clock that is ``CLOCK_HOURS`` off in each process that answers.

Only the time of day is wrong: monotonic time, by which gunicorn watches over its processes, stays.
"""

import os
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine

from config.gunicorn import *  # noqa: F403 gunicorn reads the names of this file

HOURS = timedelta(hours=int(os.environ.get("CLOCK_HOURS", "0")))


def post_fork(server: Any, worker: Any) -> None:
    if HOURS:
        time_machine.travel(datetime.now(UTC) + HOURS, tick=True).start()
