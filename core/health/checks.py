"""The one list of checks whether the site is well, whoever prints it: ``doctor`` and its page, the probes of machines,
and Django at every start.

A check is a function that yields what it found, each with the line to change or to run, which is empty where all is
well. An app declares its own in a module of its own and names it here.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import OperationalError, ProgrammingError
from django.utils.module_loading import import_string

from core.errors import one_line

CHECKS = {
    "settings": "core.health.configuration.find_settings",
    "https": "core.health.configuration.find_https",
    "proxy": "core.health.configuration.find_proxy",
    "addresses": "console.people.login_lock.find_unknown_addresses",
    "database": "core.health.services.find_database",
    "migrations": "core.health.services.find_migrations",
    "storage": "core.health.services.find_storage",
    "disk": "core.health.services.find_disk",
    "clock": "core.health.services.find_clock",
    "queue": "core.health.heartbeat.find_queue",
    "computers": "core.health.configuration.find_computers",
    "ray": "mitl.search.engine_checks.find_ray",
    "consent": "annotation.people.consent.find_missing_words",
    "networks": "mitl.search.engine_checks.find_networks",
    "gpu": "mitl.search.engine_checks.find_gpu",
    "faiss": "mitl.search.engine_checks.find_faiss",
}

# What a page needs, and what else the site needs: functions that quickly return what is wrong, "" where all is well.
REQUIRED = {
    "database": "core.health.services.database_trouble",
    "clock": "core.health.services.clock_trouble",
}
BESIDE = {
    "broker": "core.health.heartbeat.broker_trouble",
    "storage": "core.health.services.storage_trouble",
}


@dataclass(frozen=True)
class Finding:
    """What a check found. ``change``: the line to change, or to run; empty if nothing is wrong."""

    check: str
    found: str
    change: str = ""


def examine() -> Iterator[Finding]:
    """Run every check. One that fails itself is a finding."""
    for name, path in CHECKS.items():
        try:
            for found, change in import_string(path)():
                yield Finding(name, found, change)
        except (OperationalError, ProgrammingError):
            yield Finding(name, "not checked: the database cannot be used, or lacks migrations")
        except Exception as error:  # whatever a broken installation raises
            yield Finding(name, f"{type(error).__name__}: {one_line(error)}", "Correct that, then run doctor again.")


def is_well(path: str) -> bool:
    """Whether one of the functions of REQUIRED and BESIDE finds nothing wrong."""
    return not import_string(path)()
