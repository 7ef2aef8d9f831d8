"""The cards of the home page: the result of the newest version, and the open rounds."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.core.cache import cache

from annotation.work.standing import forecast_of, standings
from console.kept_figures import kept_if_slow
from console.rounds.figures import seat_bar
from console.rounds.next_steps import holds_of_page
from console.versions.story import METRIC, ranking_chart
from corpus.models import Image
from dataset.models import Version
from hits.models import Item, Round

OPEN = Round.objects.filter(published_at__isnull=False, closed_at=None)
CARDS = 6
PICTURES = 6
KEPT_SECONDS = 30  # a round's holds take a dozen queries


def newest_result() -> dict[str, Any] | None:
    """Return the version that was released last, its matches as the manifest counts them, and the change of the
    ranking; None before the first."""
    version = Version.objects.select_related("collection").first()
    if version is None:
        return None
    counts = {row["source"]: row for row in version.manifest["sources"]}
    ranking = ranking_chart(version)
    return {"version": version, "matches": counts.get(version.name, {}), "ranking": ranking, "metric": METRIC}


def round_cards() -> list[dict[str, Any]]:
    """Return the cards of the newest open rounds."""
    rounds = list(OPEN.order_by("-published_at")[:CARDS])
    names = "-".join(str(one.pk) for one in rounds)
    known = kept_if_slow(f"standings-of-rounds:{names}", partial(standings, rounds)).figures
    pictures = _pictures_of(rounds)
    cards = []
    for one in rounds:
        standing = known[one.pk]
        forecast = kept_if_slow(f"forecast-of-round:{one.pk}:{one.takes_workers}", partial(forecast_of, one, standing))
        holds = f"holds-on-home:{one.pk}:{one.takes_workers}:{one.ceiling}"
        cards.append(
            {
                "round": one,
                "standing": standing,
                "seats": seat_bar(standing),
                "forecast": forecast.figures,
                "holds": cache.get_or_set(holds, partial(holds_of_page, one, standing), KEPT_SECONDS),
                "pictures": pictures.get(one.pk, [])[:PICTURES],
            }
        )
    return cards


def _pictures_of(rounds: Sequence[Round]) -> dict[int, list[Image]]:
    """Return the pictures of each round's first HIT, by the round's id."""
    items = Item.objects.filter(hit__round__in=rounds, hit__number=1, image__isnull=False)
    by_round: dict[int, dict[int, Image]] = {}
    for item in items.select_related("hit", "image").order_by("place"):
        if item.image:
            by_round.setdefault(item.hit.round_id, {})[item.image.pk] = item.image
    return {key: list(images.values()) for key, images in by_round.items()}
