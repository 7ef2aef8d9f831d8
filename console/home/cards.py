"""The cards of the home page: the result of the newest version, and the open rounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from django.core.cache import cache

from annotation.work.standing import Forecast, Standing, forecast_of, standings
from console.charts.inline_bars import part_chart
from console.kept_figures import kept_if_slow
from console.rounds.figures import seat_bar
from console.rounds.hold_lines import HoldLine, holds_of_page
from corpus.models import Image
from counterpart_metrics import SCORED
from dataset.models import Version
from hits.models import Item, Round
from mitl.charts.drawing import Chart
from mitl.models import Direction

METRIC = SCORED[0]
SIDES = {"images": "images for a caption", "captions": "captions for an image"}


@dataclass(frozen=True)
class DirectionMatches:
    """The matches of one direction, ``times`` as many as the original ones; ``parts`` draws original and new ones."""

    label: str
    times: float
    parts: Chart | None


@dataclass(frozen=True)
class NewestResult:
    """``times`` as many matches as the original ones, over both directions (None without any); ``leader`` has the
    highest ``score`` in METRIC of several models, and ``before`` the highest on the original matches alone, if the same
    models were scored on these."""

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
    leader = _leader(values) if len(values) > 1 else ""
    before = _leader(on_original) if on_original.keys() == values.keys() else ""
    return NewestResult(version, times, sides, leader, values.get(leader), before)


def _side(name: str, original: int, total: int) -> DirectionMatches:
    parts = [("line-strong", "original", original), ("accent", "found by the rounds", max(total - original, 0))]
    return DirectionMatches(SIDES[name], total / original, part_chart(SIDES[name], parts))


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


OPEN = Round.objects.filter(published_at__isnull=False, closed_at=None)
CARDS = 6
PICTURES = 6
KEPT_SECONDS = 30  # a round's holds take a dozen queries


@dataclass(frozen=True)
class RoundCard:
    """An open round."""

    round: Round
    standing: Standing
    seats: Chart | None
    forecast: Forecast | None
    holds: Sequence[HoldLine]
    pictures: Sequence[Image]


def round_cards() -> list[RoundCard]:
    """Return the cards of the newest open rounds."""
    rounds = list(OPEN.order_by("-published_at")[:CARDS])
    names = "-".join(str(one.pk) for one in rounds)
    known = kept_if_slow(f"standings-of-rounds:{names}", partial(standings, rounds)).figures
    pictures = _pictures_of(rounds)
    cards = []
    for one in rounds:
        standing = known[one.pk]
        forecast = kept_if_slow(f"forecast-of-round:{one.pk}:{one.takes_workers}", partial(forecast_of, one, standing))
        cards.append(
            RoundCard(
                round=one,
                standing=standing,
                seats=seat_bar(standing),
                forecast=forecast.figures,
                holds=_holds_of(one, standing),
                pictures=pictures.get(one.pk, []),
            )
        )
    return cards


def _holds_of(round: Round, standing: Standing) -> list[HoldLine]:
    """Return what holds a round up, as the page of the round has it."""
    key = f"holds-on-home:{round.pk}:{round.takes_workers}:{round.ceiling}"
    kept: list[HoldLine] | None = cache.get(key)
    if kept is None:
        kept = holds_of_page(round, standing)
        cache.set(key, kept, KEPT_SECONDS)
    return kept


def _pictures_of(rounds: Sequence[Round]) -> dict[int, list[Image]]:
    """Return the first pictures of each round's first HIT, by the round's id."""
    items = Item.objects.filter(hit__round__in=rounds, hit__number=1, image__isnull=False)
    by_round: dict[int, dict[int, Image]] = {}
    for item in items.select_related("hit", "image").order_by("place"):
        if item.image:
            by_round.setdefault(item.hit.round_id, {})[item.image.pk] = item.image
    return {key: list(images.values())[:PICTURES] for key, images in by_round.items()}
