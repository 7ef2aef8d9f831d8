"""Top-ups: HITs added to a round for pairs that need votes, packed as the first, with other controls."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from django.db.models import Max
from numpy.typing import NDArray

from core.errors import CounterpartError
from core.events import record
from core.seeds import derived_seed
from hits.controls import Avoided, Keys, known_matches
from hits.designs import parse_design
from hits.judge_designs import JudgeDesign
from hits.models import Item, Round, TopUp
from hits.packing.plan import Plan, Sides
from hits.pair_plans import Newest, PlanRequest, number_collection, plan_pairs
from hits.rows import write_hits


def pack_top_up(
    round: Round, pairs: Iterable[tuple[int, int]], *, number: int, avoided: Keys, newest: Newest | None = None
) -> Plan:
    """Pack ``pairs`` (ids of image and caption) into HITs with controls that the round has not shown before, as far as
    there are enough, and without what is ``avoided`` or was added since the round was packed. ``newest`` stands for
    what the round was packed from, if it did not note that. The seed follows from the round's and ``number``.

    The last HIT is filled up with controls. The same arguments give the same plan in every database. Raises
    CounterpartError if there are not enough controls.
    """
    newest = round.summary.get("newest", newest)
    sides = number_collection(round.pool.collection, newest)
    earlier = Item.objects.filter(hit__round=round).exclude(hit__top_up__number__gte=number)
    shown = sides.pair_codes(earlier.values_list("image_id", "caption_id").distinct())
    coded = Avoided.of(avoided, sides)
    if newest and "matches" in newest:
        coded = coded.and_pairs(known_matches(round.pool.collection, sides, newest=newest["matches"]))
    candidates = sides.pair_codes(pairs)
    try:
        return _plan(round, sides, candidates, number, coded, shown)
    except CounterpartError:
        return _plan(round, sides, candidates, number, coded, candidates)


def add_top_up(
    round: Round,
    plan: Plan,
    *,
    number: int,
    avoided: Keys,
    seats: int = 1,
    rankings: dict[str, str] | None = None,
    audit_share: float | None = None,
    opened: list[list[str]] | None = None,
    rejected: dict[str, Any] | None = None,
    expected: dict[str, Any] | None = None,
    actor: str,
) -> TopUp:
    """Store a planned top-up: its HITs follow the round's, with so many seats each. Call it in a transaction that has
    locked the round. ``rankings``: checksum of the rankings of each model whose first items it asks; ``audit_share``:
    the share of an audit that it continues; ``opened``: what a batch of likely matches opened of audited queries;
    ``rejected``: the unlikely pairs of which it asks a sample; ``expected``: what further votes on doubtful pairs are
    expected to bring, for the event."""
    top_up = TopUp.objects.create(
        round=round,
        number=number,
        plan_hash=plan.hash,
        avoided=avoided,
        rankings=rankings or {},
        audit_share=audit_share,
        opened=opened,
        rejected=rejected,
    )
    last = round.hits.aggregate(last=Max("number"))["last"] or 0
    write_hits(round, plan, first=last + 1, seats=seats, top_up=top_up.pk)
    why = {
        "models": sorted(rankings or {}),
        "audit_share": audit_share,
        "likely_matches": opened is not None,
        "rejected_pairs": len(rejected["pairs"]) if rejected else 0,
    }
    told = {name: what for name, what in why.items() if what} | (expected or {})
    record("topped up", round, actor=actor, number=number, hits=plan.n_hits, plan_hash=plan.hash, **told)
    return top_up


def design_of(round: Round, *, finished: bool = False) -> JudgeDesign:
    """Return what the round asks: the design it was packed with, and the share to which its audit was continued.
    ``finished``: only as far as the answers of top-ups are in."""
    design = JudgeDesign.from_json(round.summary.get("judge"))
    top_ups = round.top_ups.exclude(audit_share=None)
    if finished:
        top_ups = top_ups.exclude(pk__in=TopUp.objects.unfinished().filter(round=round))
    share = top_ups.aggregate(last=Max("audit_share"))["last"]
    return replace(design, share=share) if share else design


def plan_again(top_up: TopUp, *, newest: Newest | None = None) -> Plan:
    """Return the plan of a top-up, packed again from the pairs that it asks. Its hash is the stored one."""
    asked: Any = Item.objects.filter(hit__top_up=top_up, control=None).values_list("image_id", "caption_id")
    return pack_top_up(top_up.round, asked, number=top_up.number, avoided=top_up.avoided, newest=newest)


def _plan(
    round: Round, sides: Sides, pairs: NDArray[np.int64], number: int, avoided: Avoided, no_controls: NDArray[np.int64]
) -> Plan:
    seed = derived_seed(round.seed, number)
    sharing = round.summary.get("sharing", "avoid")
    design = parse_design(round.design)
    return plan_pairs(PlanRequest(round.pool, sides, pairs, design, seed, sharing, avoided.and_pairs(no_controls)))
