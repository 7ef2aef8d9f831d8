"""A site that is killed in the middle of a call: python -m tests.console.api.killed_call before|after PATH TOKEN KEY

``before``: once the job of the call is stored, and nothing is committed. ``after``: once all is committed, and no
answer is sent.
"""

import json
import os
import signal
import sys
from typing import Any

import django
from django.db import connection
from django.db.transaction import Atomic


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(moment: str, path: str, token: str, key: str, body: str) -> None:
    django.setup()
    from django.conf import settings
    from django.test import Client

    from core.work import jobs

    settings.ALLOWED_HOSTS = ["testserver"]
    if moment == "before":
        jobs.record = die
    end = Atomic.__exit__

    def ending(block: Atomic, *error: Any) -> None:
        end(block, *error)
        if not connection.in_atomic_block and moment == "after":
            die()

    Atomic.__exit__ = ending  # type: ignore[method-assign]
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": key}
    answer = Client().post(path, json.loads(body), content_type="application/json", headers=headers)
    print(answer.status_code, answer.content)


if __name__ == "__main__":
    main(*sys.argv[1:])
