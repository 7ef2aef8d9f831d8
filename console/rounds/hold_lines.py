"""The holds of a round, as pages show them: each with the button that helps."""

from functools import partial
from typing import NamedTuple

from django.urls import reverse

from annotation.platforms import Hold
from annotation.work.standing import Standing
from annotation.work.standstill import find_holds
from console.kept_figures import kept_if_slow
from console.places import page_of
from hits.models import Round

COUNTED_AS_NEEDS = ("review", "rejection")
"""Kinds of holds that ``console.home.needs`` shows to users who may act on them."""
BUTTONS = {"ceiling": ("Raise the ceiling", "round_ceiling"), "workers": ("Invite", "round_people")}


class HoldLine(NamedTuple):
    """A hold with its button, if another page helps; *Resume* is in the menu of the round."""

    hold: Hold
    label: str = ""
    url: str = ""


def holds_of_page(round: Round, standing: Standing) -> list[HoldLine]:
    """Return the holds of an open round, cached for a while if they take long to compute."""
    if round.state != "open":
        return []
    key = f"holds-of-round:{round.pk}:{round.takes_workers}:{round.ceiling}"
    kept = kept_if_slow(key, partial(find_holds, round, standing))
    return [_line(round, hold) for hold in kept.figures if hold.kind not in COUNTED_AS_NEEDS]


def _line(round: Round, hold: Hold) -> HoldLine:
    if hold.kind == "pictures":
        return HoldLine(hold, "Collection", page_of(round.pool.collection))
    label, name = BUTTONS.get(hold.kind, ("", ""))
    return HoldLine(hold, label, reverse(name, args=[round.name]) if name else "")
