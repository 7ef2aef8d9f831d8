"""The holds of a round, as pages show them: each with the button that helps."""

from dataclasses import dataclass
from functools import partial

from django.urls import reverse

from annotation.platforms import Hold
from annotation.work.standing import Standing
from annotation.work.standstill import find_holds
from console.kept_figures import kept_if_slow
from hits.models import Round

COUNTED_AS_NEEDS = ("review", "rejection")
"""Kinds of holds that ``console.home.needs`` shows to users who may act on them."""
BUTTONS = {
    "draft": ("Publish", "round_publish"),
    "ceiling": ("Raise the ceiling", "round_ceiling"),
    "workers": ("Invite", "round_people"),
}


@dataclass(frozen=True)
class HoldLine:
    """A hold with its button, if another page helps; *Resume* is at the top of the round's page."""

    hold: Hold
    label: str
    url: str


def holds_of_page(round: Round, standing: Standing) -> list[HoldLine]:
    """Return the holds of an open round, cached for a while if they take long to compute."""
    if round.state != "open":
        return []
    key = f"holds-of-round:{round.pk}:{round.takes_workers}:{round.ceiling}"
    kept = kept_if_slow(key, partial(find_holds, round, standing))
    return [_line(round, hold) for hold in kept.figures if hold.kind not in COUNTED_AS_NEEDS]


def _line(round: Round, hold: Hold) -> HoldLine:
    label, name = BUTTONS.get(hold.kind, ("", ""))
    if hold.kind == "pictures":
        return HoldLine(hold, "Collection", reverse("collection", args=[round.pool.collection.name]))
    return HoldLine(hold, label, reverse(name, args=[round.name]) if name else "")
