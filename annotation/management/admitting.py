"""The options of ``publish`` that say who may work in a round of the browser pool, and how much."""

from typing import Any

from django.core.management.base import CommandParser

from annotation.admission import make_admission
from annotation.models import Admission
from annotation.qualification_tests import find_test


def add_admission_options(parser: CommandParser) -> None:
    """Add an option for each part of an Admission, in a group of their own."""
    group = parser.add_argument_group("who may work in the browser pool")
    group.add_argument("--capacity", type=int, help="how many workers may join by the link (default: any number)")
    group.add_argument("--per-worker", type=int, help="how many HITs one worker may take (default: any number)")
    group.add_argument("--test", default="", help="the test that workers pass before their first HIT; see make_test")


def admission_in(options: dict[str, Any]) -> Admission:
    """Read the options. Raises CounterpartError for an unknown test and for numbers that let nobody in."""
    test = find_test(options["test"]) if options["test"] else None
    return make_admission(capacity=options["capacity"], per_worker=options["per_worker"], test=test)
