"""The options of ``publish`` that say what a platform shows and demands."""

from typing import Any

from django.core.management.base import CommandParser

from crowd.offers import Offer

OPTIONS: dict[str, tuple[type, str]] = {
    "title": (str, "what workers see in the platform's list"),
    "description": (str, "the sentence below the title"),
    "keywords": (str, "search words, with commas between"),
    "minutes": (int, "how long a worker may keep a HIT"),
    "lifetime_days": (int, "how long HITs stay on the platform"),
    "auto_approval_days": (int, "after how long the platform approves what nobody has decided"),
    "frame_height": (int, "height of our page in the platform's, in pixels; 0 fits"),
    "min_approved": (int, "approved assignments that a worker must have; high numbers shut newcomers out"),
    "min_approval_rate": (int, "percentage of approved work that a worker must have"),
}


def add_offer_options(parser: CommandParser) -> None:
    """Add an option for each part of an Offer, in a group of their own."""
    group = parser.add_argument_group("what a platform shows and demands")
    defaults = Offer()
    for name, (kind, help) in OPTIONS.items():
        default = getattr(defaults, name)
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, type=kind, default=default, help=f"{help} (default: {default})")
    group.add_argument("--masters", action="store_true", help="only the platform's Masters, for a higher fee")
    group.add_argument("--countries", default="", help="two-letter codes with commas between (default: any country)")


def offer_in(options: dict[str, Any]) -> Offer:
    """Read the options. Raises CounterpartError for values that no platform takes."""
    countries = tuple(code.strip() for code in options["countries"].split(",") if code.strip())
    return Offer(**{name: options[name] for name in OPTIONS}, masters=options["masters"], countries=countries)
