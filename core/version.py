"""The version of the software, as manifests of releases and backups name it."""

import tomllib
from functools import cache

from django.conf import settings


@cache
def software_version() -> str:
    """Return the version in pyproject.toml."""
    return str(tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"])
