"""The guards of a version: the estimates that audits give of its scores, stored once when it is scored."""

from typing import Any

from core.files import read_json, write_json
from dataset.models import Version

Guards = list[dict[str, Any]]
"""Of each such round: its name, ``rows`` with a model's score in a direction as the pool's verdicts count it, its
estimate, the deviation, z in standard errors and whether it is flagged; or the ``trouble`` that left it without."""


def keep_guards(version: Version, guards: Guards) -> None:
    write_json(_path(version), guards)


def kept_guards(version: Version) -> Guards | None:
    """Return what is kept; None before anything was estimated."""
    found: Guards | None = read_json(_path(version))
    return found


def _path(version: Version) -> str:
    return f"guards/{version.name}-{version.manifest_sha256}.json"
