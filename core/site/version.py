"""The version of the software, as manifests of releases and backups name it, and keys of the cache."""

import tomllib
from functools import cache

from django.conf import settings


@cache
def software_version() -> str:
    """Return the version in pyproject.toml."""
    return str(tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"])


def cache_key(key: str, prefix: str, version: int) -> str:
    """Return the key under which a value is cached. An upgraded site does not read what an older version cached: values
    name classes, which may have moved."""
    return f"{prefix}:{software_version()}:{version}:{key}"
