"""Qualification tests are looked up by name, with a helpful answer."""

from annotation.models import QualificationTest
from core.naming import find_named


def find_test(name: str) -> QualificationTest:
    """Return the qualification test of this name. Raises CounterpartError that lists the ones there are."""
    return find_named(QualificationTest.objects.all(), name, made_by="make_test")
