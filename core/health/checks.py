"""The list of all health checks of the site: ``doctor`` and its page, the probes of machines and Django at every start
use it.

A check is a function that yields its findings, each with the line to change or to run, which is empty if nothing is
wrong. An app declares its checks in a module of its own and names them here.
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

# What every page needs, and what the site needs in addition: quick functions that return what is wrong, or "".
REQUIRED = {
    "database": "core.health.services.database_trouble",
    "clock": "core.health.services.clock_trouble",
}
ADDITIONAL = {
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
    """Run every check. A check that raises an error is a finding."""
    for name, path in CHECKS.items():
        try:
            for found, change in import_string(path)():
                yield Finding(name, found, change)
        except (OperationalError, ProgrammingError):
            yield Finding(name, "not checked: the database cannot be used, or migrations are missing")
        except Exception as error:  # whatever a broken installation raises
            yield Finding(name, f"{type(error).__name__}: {one_line(error)}", "Correct that, then run doctor again.")


def is_well(path: str) -> bool:
    """Whether this function of REQUIRED or ADDITIONAL finds nothing wrong."""
    return not import_string(path)()
