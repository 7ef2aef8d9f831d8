"""Parts of a round's pages that take seconds to minutes to count: a job counts and stores them, drawn for those who may
launch rounds and for others; a page shows the last ones until newer ones are there."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from console.charts.plots import state_of
from console.trust.estimate_figures import estimate_figures
from core import clock
from core.errors import CounterpartError
from core.files.stored_files import read_json, write_json
from core.progress import Progress
from evaluation.live_effect import EffectParameters, measure_effect
from hits.models import Round


@dataclass(frozen=True)
class TrustPart:
    """A part's title, template, and what returns the figures of a round."""

    title: str
    template: str
    figures: Callable[..., dict[str, Any]]


def effect_figures(round_: Round, *, progress: Progress) -> dict[str, Any]:
    """Return the effect with a row for each model at the last look, or the ``trouble`` why it is missing."""
    try:
        effect = measure_effect(round_, EffectParameters(looks=10), progress=progress)
    except CounterpartError as error:
        return {"trouble": str(error)}
    unpooled = dict(zip(effect.models, effect.unpooled.tolist(), strict=True))
    scores = effect.last.scores if effect.last else []
    return {"effect": effect, "rows": [row | {"unpooled": unpooled[row["model"]]} for row in scores]}


PARTS = {
    "effect": TrustPart("Effect on models", "console/trust/_effect.html", effect_figures),
    "estimates": TrustPart("Estimates", "console/trust/_round_estimates.html", estimate_figures),
    "estimates-like": TrustPart(
        "Estimates", "console/trust/_round_estimates.html", partial(estimate_figures, queries="like")
    ),
}


@dataclass(frozen=True)
class StoredPart:
    """A part as it was counted ``at``, of data in ``state``; ``drawn`` for those who may launch rounds and others."""

    at: datetime
    state: str
    drawn: dict[str, str]

    def html(self, user: User) -> SafeString:
        return mark_safe(self.drawn["launch" if user.has_perm("hits.launch_round") else "read"])  # noqa: S308


def count_part(round_: Round, part: str, *, progress: Progress) -> None:
    """Count a part of a round's pages and store it."""
    kept = {"at": clock.now().isoformat(), "state": state_of_part(round_)}
    context = {"round": round_, **PARTS[part].figures(round_, progress=progress)}
    drawn = {
        rights: render_to_string(PARTS[part].template, {**context, "perms": {"hits": {"launch_round": may}}})
        for rights, may in (("launch", True), ("read", False))
    }
    write_json(part_path(round_, part), {**kept, "drawn": drawn})


def stored_part(round_: Round, part: str) -> StoredPart | None:
    """Return the part as it was counted last, or None."""
    kept = read_json(part_path(round_, part))
    return kept and StoredPart(datetime.fromisoformat(kept["at"]), kept["state"], kept["drawn"])


def state_of_part(round_: Round) -> str:
    """Return a key of the data behind the parts."""
    return f"{round_.state}-{state_of(round_, 'estimates')}"


def part_path(round_: Round, part: str) -> str:
    """Return where a part is in the storage."""
    return f"parts/round-{round_.pk}-{part}.json"
