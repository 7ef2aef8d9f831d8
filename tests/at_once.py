"""Run many calls at the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from django.db import connection


def at_once(*calls: Callable) -> list:
    """Make every call in a thread and with a database connection of its own, all starting together."""
    barrier = Barrier(len(calls), timeout=60)

    def run(call):
        barrier.wait()
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
