"""The options of ``publish`` that say how long a HIT takes, for its wage."""

import argparse
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandParser

from hits.models import Round


def add_timing_options(parser: CommandParser) -> None:
    group = parser.add_argument_group("how long a HIT takes (default: as the latest round that asked the same)")
    group.add_argument("--pilot", default="", metavar="ROUND", help="the round whose median active time it takes")
    group.add_argument("--expected-minutes", type=_minutes, metavar="M", help="what you state that it takes; recorded")


def timing_in(options: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments for ``publish_round``. Raises CounterpartError for an unknown pilot."""
    pilot = Round.objects.named(options["pilot"]) if options["pilot"] else None
    return {"pilot": pilot, "expected_minutes": options["expected_minutes"]}


def _minutes(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of minutes") from error
