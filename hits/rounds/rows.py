"""The rows of packed HITs: their controls, items and seats."""

import json
from typing import Any

import numpy as np

from core.database.inserts import Columns, insert_rows
from core.progress import Progress, silent
from hits.models import HIT, Control, Item, Round, Seat
from hits.packing.plan import ROLES, Codes, Plan

HITS_AT_ONCE = 5_000
Masked = np.ma.MaskedArray[Any, np.dtype[np.int64]]


def write_hits(
    packed: Round, plan: Plan, *, first: int, seats: int, top_up: int | None = None, progress: Progress = silent
) -> None:
    """Insert the HITs of a plan, numbered from ``first``, with their controls, items and ``seats`` seats each."""
    numbers = np.arange(first, first + plan.n_hits)
    added: Columns = {"top_up_id": top_up} if top_up else {}
    insert_rows(HIT, {"round_id": packed.pk, "number": numbers, **added}, step="writing HITs", progress=progress)
    inserted = packed.hits.filter(number__gte=first).order_by("pk")
    hit_ids = np.fromiter(inserted.values_list("pk", flat=True), np.int64)
    controls = _write_controls(packed, plan, progress)
    _write_items(plan, hit_ids, controls, progress)
    if plan.design.repeats:
        _write_repeats(plan, hit_ids)
    columns: Columns = {
        "round_id": packed.pk,
        "hit_id": np.repeat(hit_ids, seats),
        "number": np.tile(np.arange(1, seats + 1), plan.n_hits),
        "state": Seat.State.OPEN.value,
    }
    insert_rows(Seat, columns, step="writing seats", progress=progress)


def _write_controls(packed: Round, plan: Plan, progress: Progress) -> Masked:
    """Write each gold pair that the round has not had before; return the id of every item's control, masked for
    candidates."""
    gold = plan.items.roles > 0
    images = plan.sides.images.ids_of(plan.items.images[gold])
    captions = plan.sides.captions.ids_of(plan.items.captions[gold])
    pairs = list(zip(images.tolist(), captions.tolist(), strict=True))
    roles = dict(zip(pairs, plan.items.roles[gold].tolist(), strict=True))
    had = set(packed.controls.values_list("image_id", "caption_id"))
    new = sorted(pair for pair in roles if pair not in had)
    columns: Columns = {
        "round_id": packed.pk,
        "image_id": np.array([image for image, _ in new], np.int64),
        "caption_id": np.array([caption for _, caption in new], np.int64),
        "polarity": np.array([ROLES[roles[pair]] for pair in new]),
        "state": Control.State.ACTIVE.value,
    }
    insert_rows(Control, columns, step="writing controls", progress=progress)
    ids = {(image, caption): pk for pk, image, caption in packed.controls.values_list("pk", "image_id", "caption_id")}
    written = np.ma.masked_all(len(gold), np.int64)
    written[gold] = [ids[pair] for pair in pairs]
    return written


def _write_repeats(plan: Plan, hit_ids: Codes) -> None:
    """Ask about candidates of each HIT again, drawn by the plan's seed. No plan and no hash holds them."""
    rng = np.random.default_rng([plan.seed, plan.design.repeats])
    last = plan.design.size
    for start in range(0, len(hit_ids), HITS_AT_ONCE):
        some = hit_ids[start : start + HITS_AT_ONCE].tolist()
        asked: dict[int, list[Item]] = {}
        for item in Item.objects.filter(hit__in=some, control=None).order_by("hit", "place"):
            asked.setdefault(item.hit_id, []).append(item)
        Item.shown.bulk_create(
            Item(hit_id=hit, place=last + number, image_id=item.image_id, caption_id=item.caption_id, repeat_of=item)
            for hit, items in asked.items()
            for number, item in enumerate(rng.permutation(np.array(items, object))[: plan.design.repeats], 1)
        )


def _write_items(plan: Plan, hit_ids: Codes, controls: Masked, progress: Progress) -> None:
    columns: dict[str, Any] = {
        "hit_id": hit_ids[plan.items.hits],
        "place": plan.places,
        "image_id": plan.sides.images.ids_of(plan.items.images),
        "caption_id": plan.sides.captions.ids_of(plan.items.captions),
        "control_id": controls,
    }
    if plan.contents:
        contents = plan.named_contents(plan.sides.images.ids.tolist())
        columns["content"] = np.array([json.dumps(content) for content in contents], dtype=object)
    insert_rows(Item, columns, step="writing items", progress=progress)
