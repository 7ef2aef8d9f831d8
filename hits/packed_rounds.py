"""Pack a pool into a round: its HITs, gold controls and seats, written at once, with what it will cost."""

import secrets
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import numpy as np
from django.db import IntegrityError, transaction

from core.errors import CounterpartError
from core.events import record
from core.inserts import Columns, insert_rows
from core.naming import check_name
from core.progress import Progress, silent
from hits.designs import Design, load_design
from hits.models import HIT, Control, Item, Round, Seat
from hits.packing import Codes, Sharing
from hits.plans import ROLES, Plan, make_plan
from hits.terms import Terms
from mitl.models import Pool

LARGEST_SEED = 2**63 - 1

Masked = np.ma.MaskedArray[Any, np.dtype[np.int64]]


def pack_round(
    name: str,
    *,
    pool: Pool,
    design: Design | str | Path = "eccv-18",
    reward: Decimal = Terms.reward,
    reasons: bool = Terms.reasons,
    replication: int = Terms.replication,
    ceiling: Decimal = Terms.ceiling,
    sharing: Sharing = "avoid",
    seed: int = 0,
    actor: str = "command",
    progress: Progress = silent,
) -> Round:
    """Pack the pool's distinct pairs into a draft round of ``ceil(pairs / candidates)`` HITs.

    Every pair is a candidate of exactly one HIT; the last HIT is topped up with further gold controls. With
    ``sharing`` "avoid" no two items of a HIT have an image or a caption in common where the pool allows it, and
    the summary counts where it does not. ``reward`` is in US dollars for one assignment; ``ceiling``, in US
    dollars for the round, must cover at least its cost on the cheapest channel. The same name, input and terms
    again: returns the round there is. The same input and seed: the same plan, whatever the database.

    Raises CounterpartError for impossible terms, a pool smaller than one HIT, a cost above the ceiling, a pool
    without controls, or a name that stands for another round; nothing is written then.
    """
    terms = Terms(reward=reward, reasons=reasons, replication=replication, ceiling=ceiling)
    check_name(name)
    check_randomness(sharing, seed)
    design = design if isinstance(design, Design) else load_design(design)
    plan = make_plan(pool, design=design, seed=seed, sharing=sharing, progress=progress)
    terms.check_ceiling(plan.n_hits)
    fields = {"pool": pool, "design": design.as_json(), "seed": seed, "plan_hash": plan.hash, **terms.as_fields()}
    if existing := _named(name):
        return _the_same(existing, fields)
    fields["summary"] = _summary(plan, terms, sharing)
    try:
        return _write(name, fields, plan, actor, progress)
    except IntegrityError:
        if winner := _named(name):  # somebody else packed under this name in the meantime
            return _the_same(winner, fields)
        raise


def _named(name: str) -> Round | None:
    return Round.objects.filter(name=name).first()


def check_randomness(sharing: str, seed: int) -> None:
    """Raise CounterpartError for an unknown sharing policy or a seed that no generator takes."""
    if sharing not in get_args(Sharing):
        raise CounterpartError(f"Unknown sharing policy {sharing!r}; choose {' or '.join(get_args(Sharing))}.")
    if not 0 <= seed <= LARGEST_SEED:
        raise CounterpartError(f"The seed {seed} will not do: give 0 to {LARGEST_SEED}.")


def _summary(plan: Plan, terms: Terms, sharing: Sharing) -> dict[str, Any]:
    return {
        **plan.counts(),
        "seats": plan.n_hits * terms.replication,
        "sharing": sharing,
        "cost": terms.costs(plan.n_hits),
        "plan_hash": plan.hash,
    }


def _the_same(existing: Round, fields: dict[str, Any]) -> Round:
    """Return the round that bears the name already, if it is the one wished for."""
    others = [field for field, value in fields.items() if getattr(existing, field) != value]
    if others:
        raise CounterpartError(
            f"The round {existing.name} exists with another {', '.join(others).replace('_', ' ')}. "
            "Choose another name, or repeat its own terms."
        )
    return existing


@transaction.atomic
def _write(name: str, fields: dict[str, Any], plan: Plan, actor: str, progress: Progress) -> Round:
    packed = Round.objects.create(name=name, join_key=secrets.token_urlsafe(24), **fields)
    numbers = np.arange(1, plan.n_hits + 1)
    insert_rows(HIT, {"round_id": packed.pk, "number": numbers}, step="writing HITs", progress=progress)
    hit_ids = _ids(packed.hits)
    controls = _write_controls(packed, plan, progress)
    _write_items(plan, hit_ids, controls, progress)
    seats: Columns = {
        "hit_id": np.repeat(hit_ids, packed.replication),
        "number": np.tile(np.arange(1, packed.replication + 1), plan.n_hits),
        "state": Seat.State.OPEN.value,
    }
    insert_rows(Seat, seats, step="writing seats", progress=progress)
    record("packed", packed, actor=actor, hits=plan.n_hits, plan_hash=packed.plan_hash)
    return packed


def _ids(rows: Any) -> Codes:
    """The ids of rows just inserted, in the order of their insertion."""
    return np.fromiter(rows.order_by("pk").values_list("pk", flat=True), np.int64)


def _write_controls(packed: Round, plan: Plan, progress: Progress) -> Masked:
    """Write each gold pair once; return for every item of the plan its control's id, masked for candidates."""
    gold = plan.roles > 0
    cells = plan.images[gold] * len(plan.ground.captions) + plan.captions[gold]
    _, first, control_of = np.unique(cells, return_index=True, return_inverse=True)
    columns: Columns = {
        "round_id": packed.pk,
        "image_id": plan.ground.images.ids[plan.images[gold][first]],
        "caption_id": plan.ground.captions.ids[plan.captions[gold][first]],
        "polarity": np.array(ROLES)[plan.roles[gold][first]],
        "state": Control.State.ACTIVE.value,
    }
    insert_rows(Control, columns, step="writing controls", progress=progress)
    ids = np.ma.masked_all(len(gold), np.int64)
    ids[gold] = _ids(packed.controls)[control_of]
    return ids


def _write_items(plan: Plan, hit_ids: Codes, controls: Masked, progress: Progress) -> None:
    columns: Columns = {
        "hit_id": hit_ids[plan.hits],
        "place": plan.places,
        "image_id": plan.ground.images.ids[plan.images],
        "caption_id": plan.ground.captions.ids[plan.captions],
        "control_id": controls,
    }
    insert_rows(Item, columns, step="writing items", progress=progress)
