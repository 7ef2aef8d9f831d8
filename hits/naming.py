"""Rounds are looked up by name, with a helpful answer."""

from core.naming import find_named
from hits.models import Round


def find_round(name: str) -> Round:
    """Return the round of this name. Raises CounterpartError that lists the ones there are."""
    return find_named(Round.objects.all(), name, made_by="pack")
