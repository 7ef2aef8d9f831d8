"""Pack a pool into a round: its HITs, gold controls and seats, written at once, with what it will cost."""

import secrets
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

from django.db import IntegrityError, transaction

from corpus.naming import check_name
from hits.designs import Design, load_design
from hits.models import HIT, Control, Item, Round, Seat
from hits.packing import Sharing
from hits.plans import ROLES, Plan, make_plan
from hits.terms import Terms
from journal.errors import CounterpartError
from journal.events import record
from journal.progress import Progress, silent
from mitl.models import Pool

BATCH = 2_000
LARGEST_SEED = 2**63 - 1


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
        return _write(name, fields, plan, actor)
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
def _write(name: str, fields: dict[str, Any], plan: Plan, actor: str) -> Round:
    packed = Round.objects.create(name=name, join_key=secrets.token_urlsafe(24), **fields)
    numbered = [HIT(round_id=packed.pk, number=number) for number in range(1, plan.n_hits + 1)]
    hits = HIT.objects.bulk_create(numbered, batch_size=BATCH)
    Item.objects.bulk_create(_items(plan, hits, _write_controls(packed, plan)), batch_size=BATCH)
    seats = [Seat(hit_id=hit.pk, number=number) for hit in hits for number in range(1, packed.replication + 1)]
    Seat.objects.bulk_create(seats, batch_size=BATCH)
    record("packed", packed, actor=actor, hits=len(hits), plan_hash=packed.plan_hash)
    return packed


def _write_controls(packed: Round, plan: Plan) -> dict[tuple[int, int], int]:
    """Write each gold pair once; return its row's id by image code and caption code."""
    image_ids, caption_ids = plan.ground.images.ids.tolist(), plan.ground.captions.ids.tolist()
    polarities = {(image, caption): ROLES[role] for _, _, role, image, caption in plan.rows() if role}
    controls = [
        Control(round_id=packed.pk, image_id=image_ids[image], caption_id=caption_ids[caption], polarity=polarity)
        for (image, caption), polarity in polarities.items()
    ]
    written = Control.objects.bulk_create(controls, batch_size=BATCH)
    return dict(zip(polarities, (control.pk for control in written), strict=True))


def _items(plan: Plan, hits: list[HIT], controls: dict[tuple[int, int], int]) -> Iterator[Item]:
    image_ids, caption_ids = plan.ground.images.ids.tolist(), plan.ground.captions.ids.tolist()
    hit_ids = [hit.pk for hit in hits]
    for hit, place, role, image, caption in plan.rows():
        yield Item(
            hit_id=hit_ids[hit],
            place=place,
            image_id=image_ids[image],
            caption_id=caption_ids[caption],
            control_id=controls[image, caption] if role else None,
        )
