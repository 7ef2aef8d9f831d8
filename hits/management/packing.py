"""The options and figures that pack and plan_round share."""

import argparse
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

from django.core.management.base import CommandParser

from hits.designs import DESIGNS, load_design
from hits.models import Round
from hits.packing import Sharing
from hits.terms import Terms


def dollars(text: str) -> Decimal:
    """Parse an amount for argparse."""
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of US dollars") from error


def add_packing_options(parser: CommandParser) -> None:
    parser.add_argument(
        "--design", default="eccv-18", help=f"composition of a HIT: {', '.join(DESIGNS)} or a JSON file (eccv-18)"
    )
    parser.add_argument("--reward", type=dollars, default=Terms.reward, help="US dollars an assignment (0.65)")
    parser.add_argument("--reasons", action="store_true", help="ask for reasons at levels 2 and 3")
    parser.add_argument("--replication", type=int, default=Terms.replication, help="answer sets for each HIT (1)")
    parser.add_argument("--ceiling", type=dollars, default=Terms.ceiling, help="US dollars for the round at most (500)")
    parser.add_argument(
        "--sharing",
        choices=get_args(Sharing),
        default="avoid",
        help="whether items of one HIT may have an image or a caption in common (avoid, where the pool lets it)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the shuffles and the drawing of controls (0)")


def packing_of(options: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments for ``pack_round``; the design is read and checked here."""
    names = ("reward", "reasons", "replication", "ceiling", "sharing", "seed")
    return {"design": load_design(options["design"]), **{name: options[name] for name in names}}


def figures_of(packed: Round) -> dict[str, Any]:
    """A round's summary, flat: the cost on each channel beside the counts."""
    summary = dict(packed.summary)
    costs = {f"cost_{channel}": cost["total"] for channel, cost in summary.pop("cost").items()}
    return {"round": packed.name, **summary, "reward": str(packed.reward), **costs, "ceiling": str(packed.ceiling)}
