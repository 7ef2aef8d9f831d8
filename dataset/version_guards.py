"""The guards of a version: the estimates that audits give of its scores, stored once when it is scored."""

import json
from typing import Any

from django.core.files.storage import default_storage

from core.files import write_file
from dataset.models import Version

Guards = list[dict[str, Any]]
"""Of each such round: its name, ``rows`` with a model's score in a direction as the pool's verdicts count it, its
estimate, the deviation, z in standard errors and whether it is flagged; or the ``trouble`` that left it without."""


def keep_guards(version: Version, guards: Guards) -> None:
    write_file(_path(version), json.dumps(guards).encode())


def kept_guards(version: Version) -> Guards | None:
    """Return what is kept; None before anything was estimated."""
    if not default_storage.exists(_path(version)):
        return None
    with default_storage.open(_path(version)) as file:
        found: Guards = json.load(file)
    return found


def _path(version: Version) -> str:
    return f"guards/{version.name}-{version.manifest_sha256}.json"
