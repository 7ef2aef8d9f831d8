"""Offers: what a round shows and requires on a platform."""

from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any

from core.errors import CounterpartError, some_of
from hits.designs import Design
from hits.models import Round
from hits.task_types import task_type_of

LONGEST = {"title": 128, "description": 2000, "keywords": 1000}
LIMITS = {
    "minutes": (5, 24 * 60),
    "lifetime_days": (1, 365),
    "auto_approval_days": (1, 30),
    "frame_height": (0, 5000),
    "min_approved": (0, 100_000),
    "min_approval_rate": (0, 100),
    "max_sessions": (0, 10_000),
}


@dataclass(frozen=True)
class Offer:
    """What workers see and what they need. ``title``, ``description`` and ``keywords`` stand in the platform's list.
    ``minutes`` is the time limit of a HIT, ``frame_height`` is in pixels (0: as the page needs), ``min_approved``
    counts approved assignments, ``min_approval_rate`` is in percent, ``countries`` are ISO 3166 codes (none: any).
    ``top_workers``: only those whom the platform itself calls its best. ``max_sessions``: how often a worker may take a
    round that is listed as a whole, for one HIT each time (0: as often as it has HITs).

    The defaults require no approved work, because that excludes new workers.
    Raises CounterpartError for values that no platform accepts.
    """

    title: str
    description: str
    keywords: str
    minutes: int = 60
    lifetime_days: int = 7
    auto_approval_days: int = 7
    frame_height: int = 900
    top_workers: bool = False
    min_approved: int = 0
    min_approval_rate: int = 0
    max_sessions: int = 0
    countries: tuple[str, ...] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        for name, longest in LONGEST.items():
            if not 0 < len(getattr(self, name).strip()) <= longest:
                raise CounterpartError(
                    f"The {name} must have 1 to {longest} characters; it has {len(getattr(self, name))}."
                )
        for name, (least, most) in LIMITS.items():
            if not least <= getattr(self, name) <= most:
                raise CounterpartError(f"Invalid {name} {getattr(self, name)}: use {least} to {most}.")
        if odd := [code for code in self.countries if not (len(code) == 2 and code.isalpha() and code.isupper())]:
            raise CounterpartError(
                f"{len(odd)} invalid countries: {some_of(odd)}. Use two-letter codes, as in US,CA,GB."
            )

    @property
    def duration(self) -> timedelta:
        """The time limit of a HIT."""
        return timedelta(minutes=self.minutes)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"countries": [*self.countries]}


def offer_of(round: Round) -> Offer:
    """Return the offer that the round was published with. Missing words are those of its type of task, other missing
    values the defaults."""
    task = task_type_of(round)
    words = {
        "title": task.title,
        "description": task.lead.format(n=task.screens(Design(**round.design).size)),
        "keywords": task.keywords,
    }
    return Offer(**words | round.offer | {"countries": tuple(round.offer.get("countries", ()))})
