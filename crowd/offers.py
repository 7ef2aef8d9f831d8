"""Offers: what a round shows and requires on a platform."""

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any

from django import forms
from django.core.exceptions import ValidationError

from core.errors import some_of
from core.parameters import FlagField, NamesField, Parameters
from hits.models import Round
from hits.packing.designs import Design
from hits.task_types import task_type_of

LIFETIME_DAYS = (1, 365)
"""The fewest and the most days that postings may stay."""


class CountriesField(NamesField):
    """ISO 3166 codes of countries."""

    metavar = "US,CA"
    widget = forms.TextInput

    def to_python(self, value: Any) -> tuple[str, ...]:
        codes = tuple(code.upper() for code in super().to_python(value))
        if odd := [code for code in codes if not (len(code) == 2 and code.isalpha() and code.isupper())]:
            raise ValidationError(
                f"{len(odd)} invalid countries: {some_of(odd)}. Use two-letter codes, as in US,CA,GB."
            )
        return codes


def number(least: int, most: int, label: str, help_text: str, *, required: bool = True) -> forms.IntegerField:
    """Return the field of a whole number from ``least`` to ``most``."""
    return forms.IntegerField(min_value=least, max_value=most, label=label, help_text=help_text, required=required)


class Offer(Parameters):
    """What workers see and what they need. The platform's list shows ``title``, ``description`` and ``keywords``; where
    they are empty, those of the type of task.

    The defaults require no approved work, because that excludes new workers.
    """

    title: Annotated[
        str,
        forms.CharField(
            required=False, max_length=128, help_text="title in the platform's list (default: of the type of task)"
        ),
    ] = ""
    description: Annotated[
        str,
        forms.CharField(
            required=False,
            max_length=2000,
            widget=forms.Textarea(attrs={"rows": 2}),
            help_text="the sentence below the title (default: of the type of task)",
        ),
    ] = ""
    keywords: Annotated[
        str,
        forms.CharField(
            required=False,
            max_length=1000,
            help_text="search words, separated by commas (default: of the type of task)",
        ),
    ] = ""
    minutes: Annotated[
        int,
        number(
            5,
            24 * 60,
            "Time limit for a HIT, in minutes",
            "time limit for a HIT; choose generously, because HITs are returned after it",
        ),
    ] = 60
    lifetime_days: Annotated[
        int, number(*LIFETIME_DAYS, "Days until the postings expire", "days until the postings expire")
    ] = 7
    auto_approval_days: Annotated[
        int,
        number(1, 30, "Days until automatic approval", "days until the platform approves and pays undecided work"),
    ] = 7
    frame_height: Annotated[
        int,
        number(0, 5000, "Frame height in pixels", "height in pixels of our page inside the platform's; 0 fits"),
    ] = 900
    countries: Annotated[
        tuple[str, ...],
        CountriesField(
            required=False,
            label="Countries",
            help_text="two-letter codes, as in US,CA,GB (default: any country)",
        ),
    ] = ()
    min_approved: Annotated[
        int,
        number(
            0,
            100_000,
            "Minimum number of approved assignments",
            "minimum number of approved assignments; high numbers exclude new workers",
        ),
    ] = 0
    min_approval_rate: Annotated[
        int, number(0, 100, "Minimum approval rate in percent", "minimum percentage of approved work")
    ] = 0
    max_sessions: Annotated[
        int,
        number(
            0,
            10_000,
            "Maximum sessions per worker",
            "how often a worker may take a round listed as a whole, for a HIT each time; 0: no limit",
        ),
    ] = 0
    top_workers: Annotated[
        bool,
        FlagField(
            label="Only the platform's top workers, for a higher fee",
            help_text="only the platform's top workers, for a higher fee",
        ),
    ] = False

    @property
    def duration(self) -> timedelta:
        """The time limit of a HIT."""
        return timedelta(minutes=self.minutes)


def offer_of(round: Round, offer: Offer | None = None) -> Offer:
    """Return an offer, by default the one of the round's publication, with missing texts from the type of task."""
    offer = offer or Offer.from_json(round.offer)
    task = task_type_of(round)
    return replace(
        offer,
        title=offer.title or task.title,
        description=offer.description or task.lead.format(n=task.screens(Design(**round.design).shown)),
        keywords=offer.keywords or task.keywords,
    )
