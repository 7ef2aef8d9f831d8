"""What is found so far, of the newest version: how many more matches than before, and which model leads."""

from collections.abc import Sequence
from dataclasses import dataclass

from console.charts.inline_bars import Segment, split_bar
from dataset.models import Version
from evaluation.scores.moves import Moves, history_of, values_of
from evaluation.scores.scoring import SCORED

METRIC = SCORED[0]
SIDES = {"images": "images for a caption", "captions": "captions for an image"}


@dataclass(frozen=True)
class Side:
    """The matches of one direction, ``times`` as many as the original ones: those and what was found beyond them."""

    label: str
    times: float
    parts: Sequence[Segment]


@dataclass(frozen=True)
class NewestResult:
    """``times`` as many matches as the original ones, over both directions (None without any); ``leader`` has the
    highest ``score`` in METRIC, and ``before`` is who had it on the version before, if any was scored."""

    version: Version
    times: float | None
    sides: Sequence[Side]
    leader: str = ""
    score: float | None = None
    before: str = ""
    version_before: str = ""
    metric: str = METRIC


def newest_result() -> NewestResult | None:
    """Return the result of the version that was released last; None before the first."""
    version = Version.objects.select_related("collection").first()
    if version is None:
        return None
    counts = {row["source"]: row for row in version.manifest["sources"]}
    original, found = counts.get("original", {}), counts.get(version.name, {})
    sides = [_side(name, original[name], found[name]) for name in SIDES if found and original.get(name)]
    before_all = sum(original[name] for name in SIDES) if sides else 0
    times = sum(found[name] for name in SIDES) / before_all if before_all else None
    values = values_of(history_of(version.collection, METRIC))
    leader, score = _leader(values, version.name)
    scored = version.collection.versions.filter(released_at__lt=version.released_at, scores__isnull=False)
    earlier = scored.order_by("-released_at").first()
    before = _leader(values, earlier.name)[0] if earlier else ""
    return NewestResult(version, times, sides, leader, score, before, earlier.name if earlier else "")


def _side(name: str, original: int, found: int) -> Side:
    parts = [("original", "original", original), ("found", "found by the rounds", max(found - original, 0))]
    return Side(SIDES[name], found / original, split_bar(parts))


def _leader(values: Moves, version: str) -> tuple[str, float | None]:
    """Return the model with the highest value on a version, and the value; nothing where none was scored."""
    there = {model: theirs[version] for model, theirs in values.items() if version in theirs}
    leader = max(there, key=lambda model: there[model], default="")
    return leader, there.get(leader)
