"""Rebuild a round's HITs from its pool and seed, and compare them with the stored items."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from django.db.models import QuerySet

from core.errors import CounterpartError
from core.progress import Progress, silent
from hits.judge_designs import JudgeDesign
from hits.models import Item, Round
from hits.packing.designs import parse_design
from hits.packing.plan import ROLES, Items, Plan
from hits.pair_plans import Newest
from hits.rounds.packed_rounds import make_plan
from hits.rounds.top_ups import plan_again
from hits.task_types import task_type_of


@dataclass(frozen=True)
class Replay:
    """Differences between the HITs of a round and its plan packed again. ``unchecked`` names the plans that come out
    otherwise where the round has not ``noted`` what it was packed from: more may have been added until the release."""

    noted: bool
    problems: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def check_packing(
    round: Round, released: dict[str, Any], *, newest: Newest | None = None, progress: Progress = silent
) -> Replay:
    """Compare the released plans of a round and of its top-ups (their hashes, as the manifest's description of the
    round has them), the stored items, and the same pairs packed again from what the round was packed from.

    ``newest`` is what the release held; it replaces what the round was packed from, if an earlier program packed it.
    """
    replay = Replay(noted="newest" in round.summary)
    packed_again = partial(
        make_plan,
        round.pool,
        task=task_type_of(round),
        design=parse_design(round.design),
        seed=round.seed,
        sharing=round.summary.get("sharing", "avoid"),
        avoided=round.summary.get("avoided"),
        newest=round.summary.get("newest", newest),
        judge=JudgeDesign.from_json(round.summary.get("judge")),
        progress=progress,
    )
    items = Item.objects.filter(hit__round=round, hit__top_up=None)
    _check(replay, f"round {round}", (released["plan_hash"], round.plan_hash), items, packed_again)
    # Top-ups that came after the release are not part of it.
    for top_up, plan_hash in zip(round.top_ups.order_by("number"), released["top_ups"], strict=False):
        name = f"top-up {top_up.number} of round {round}"
        items = Item.objects.filter(hit__top_up=top_up)
        packed_again = partial(plan_again, top_up, newest=newest)
        _check(replay, name, (plan_hash, top_up.plan_hash), items, packed_again)
    return replay


def _check(
    replay: Replay, name: str, hashes: tuple[str, str], items: QuerySet[Item], packed_again: Callable[[], Plan]
) -> None:
    """Check the released hash of a plan, the stored one, and the stored items."""
    released, stored = hashes
    if stored != released:
        replay.problems.append(f"The plan of {name} is {stored}; the release was made from {released}.")
    try:
        again = packed_again()
    except CounterpartError as error:
        replay.problems.append(f"The HITs of {name} cannot be packed again: {error}")
        return
    if again.hash != stored and replay.noted:
        replay.problems.append(f"Packing {name} again gives the plan {again.hash}, not {stored}.")
    elif again.hash != stored:
        replay.unchecked.append(name)
    if _with_items(again, items).hash != stored:
        replay.problems.append(f"The stored items of {name} are not those of its plan {stored}.")


def _with_items(plan: Plan, items: QuerySet[Item]) -> Plan:
    """Return the plan with the stored items in place of its own."""
    columns = ("hit__number", "image_id", "caption_id", "place", "control__polarity")
    rows: Any = items.order_by("hit__number", "place").values_list(*columns)
    ordered = list(rows)
    roles = np.array([ROLES.index(polarity) if polarity else 0 for *_, polarity in ordered], np.int64)
    hits, images, captions, places = np.array([row[:4] for row in ordered], np.int64).reshape(-1, 4).T
    first = hits.min(initial=np.iinfo(np.int64).max)
    stored = Items(hits - first, plan.sides.images.codes(images), plan.sides.captions.codes(captions), roles)
    return replace(plan, items=stored, places=places)
