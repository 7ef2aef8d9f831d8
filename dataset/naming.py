"""Versions are looked up by name, with a helpful answer."""

from core.naming import find_named
from dataset.models import Version


def find_version(name: str) -> Version:
    """Return the version of this name. Raises CounterpartError that lists the ones there are."""
    return find_named(Version.objects.select_related("collection", "sample"), name, made_by="release")
