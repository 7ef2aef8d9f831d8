"""The result of the newest version: its matches in proportion to the original ones, and whether the leading model
changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from console.charts.inline_bars import Segment, split_bar
from counterpart_metrics import SCORED
from dataset.models import Version
from mitl.models import Direction

METRIC = SCORED[0]
SIDES = {"images": "images for a caption", "captions": "captions for an image"}


@dataclass(frozen=True)
class DirectionMatches:
    """The matches of one direction, ``times`` as many as the original ones: ``parts`` are original and new matches."""

    label: str
    times: float
    parts: Sequence[Segment]


@dataclass(frozen=True)
class NewestResult:
    """``times`` as many matches as the original ones, over both directions (None without any); ``leader`` has the
    highest ``score`` in METRIC, and ``before`` is who has it on the original matches alone, if the same models were
    scored on these."""

    version: Version
    times: float | None
    sides: Sequence[DirectionMatches]
    leader: str = ""
    score: float | None = None
    before: str = ""
    metric: str = METRIC


def newest_result() -> NewestResult | None:
    """Return the result of the version that was released last; None before the first."""
    version = Version.objects.select_related("collection").first()
    if version is None:
        return None
    counts = {row["source"]: row for row in version.manifest["sources"]}
    original = counts.get("original", {})
    released = counts.get(version.name, {})
    sides = [_side(name, original[name], released[name]) for name in SIDES if released and original.get(name)]
    before_all = sum(original[name] for name in SIDES) if sides else 0
    times = sum(released[name] for name in SIDES) / before_all if before_all else None
    values = _means(version, "value")
    on_original = _means(version, "original")
    leader = _leader(values)
    before = _leader(on_original) if on_original.keys() == values.keys() else ""
    return NewestResult(version, times, sides, leader, values.get(leader), before)


def _side(name: str, original: int, total: int) -> DirectionMatches:
    parts = [("original", "original", original), ("found", "found by the rounds", max(total - original, 0))]
    return DirectionMatches(SIDES[name], total / original, split_bar(parts))


def _means(version: Version, figure: str) -> dict[str, float]:
    """Return model → mean of both directions of a figure in METRIC, of its newest run; models without it are left
    out."""
    rows = version.scores.filter(metric=METRIC).exclude(**{figure: None}).order_by("run__created_at", "run_id")
    sides: dict[str, dict[str, float]] = {}
    for model, direction, value in rows.values_list("run__model", "direction", figure):
        sides.setdefault(model, {})[direction] = value
    return {model: fmean(two.values()) for model, two in sides.items() if len(two) == len(Direction)}


def _leader(values: dict[str, float]) -> str:
    return max(values, key=lambda model: values[model], default="")
