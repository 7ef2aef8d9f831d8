"""Rebuild a round's HITs from its pool and seed, and compare them with the stored items."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.errors import CounterpartError
from core.progress import Progress
from hits.designs import parse_design
from hits.models import Item, Round
from hits.packing.plan import ROLES, Items, Plan
from hits.rounds import make_plan, number_collection


def check_packing(round: Round, released_hash: str, progress: Progress) -> Iterator[str]:
    """Yield what differs between the released plan of a round, its stored items, and the plan packed again."""
    if round.plan_hash != released_hash:
        yield f"Round {round} has the plan {round.plan_hash}; the release was made from {released_hash}."
    try:
        plan = make_plan(
            round.pool,
            design=parse_design(round.design),
            seed=round.seed,
            sharing=round.summary.get("sharing", "avoid"),
            progress=progress,
        )
    except CounterpartError as error:
        yield f"Round {round} cannot be packed again: {error}"
        return
    if plan.hash != round.plan_hash:
        yield f"Packing the pool of round {round} again gives the plan {plan.hash}, not {round.plan_hash}."
    if stored_plan(round, n_hits=plan.n_hits).hash != round.plan_hash:
        yield f"The stored items of round {round} are not those of its plan {round.plan_hash}."


def stored_plan(round: Round, *, n_hits: int) -> Plan:
    """Return the plan that the stored items of the round's first HITs make; others were added later."""
    sides = number_collection(round.pool.collection)
    rows: Any = Item.objects.filter(hit__round=round, hit__number__lte=n_hits)
    columns = ("hit__number", "image_id", "caption_id", "place", "control__polarity")
    ordered = list(rows.order_by("hit__number", "place").values_list(*columns))
    roles = [ROLES.index(polarity) if polarity else 0 for *_, polarity in ordered]
    hits, images, captions, places = np.array([row[:4] for row in ordered], np.int64).reshape(-1, 4).T
    items = Items(hits - 1, sides.images.codes(images), sides.captions.codes(captions), np.array(roles, np.int64))
    return Plan(sides, parse_design(round.design), round.seed, items, places)
