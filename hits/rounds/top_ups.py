"""Top-ups: HITs added to a round for pairs that need votes, packed as the first, with other controls."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from django.db.models import Max
from numpy.typing import NDArray

from core import clock
from core.errors import CounterpartError
from core.events import record
from core.seeds import derived_seed
from hits.controls import Avoided, avoided_pairs, known_matches
from hits.judge_designs import JudgeDesign
from hits.models import Item, Round, TopUp
from hits.packing.designs import parse_design
from hits.packing.plan import Plan, Sides
from hits.pair_plans import Newest, PlanRequest, number_collection, plan_pairs
from hits.rounds.rows import write_hits


def new_top_up(round: Round, **why: Any) -> TopUp:
    """Return the next top-up of a round, which is not stored, avoiding what is avoided today. ``why``: the fields that
    say what it asks."""
    avoided = avoided_pairs(round.pool.collection)
    return TopUp(round=round, number=round.top_ups.count() + 1, avoided=avoided, **why)


def pack_top_up(top_up: TopUp, pairs: Iterable[tuple[int, int]], *, newest: Newest | None = None) -> Plan:
    """Pack ``pairs`` (ids of image and caption) into HITs with controls that the round has not shown before, as far as
    there are enough, and without what the top-up avoids or was added since the round was packed. ``newest`` is used
    where the round did not record what it was packed from. The seed follows from the round's and the top-up's number.

    The last HIT is filled up with controls. The same arguments give the same plan in every database. Raises
    CounterpartError if there are not enough controls.
    """
    round = top_up.round
    number = top_up.number
    newest = round.summary.get("newest", newest)
    sides = number_collection(round.pool.collection, newest)
    earlier = Item.objects.filter(hit__round=round).exclude(hit__top_up__number__gte=number)
    shown = sides.pair_codes(earlier.values_list("image_id", "caption_id").distinct())
    coded = Avoided.of(top_up.avoided, sides)
    if newest and "matches" in newest:
        coded = coded.and_pairs(known_matches(round.pool.collection, sides, newest=newest["matches"]))
    candidates = sides.pair_codes(pairs)
    try:
        return _plan(round, sides, candidates, number, coded, shown)
    except CounterpartError:
        return _plan(round, sides, candidates, number, coded, candidates)


def add_top_up(
    top_up: TopUp, plan: Plan, *, seats: int = 1, expected: dict[str, Any] | None = None, actor: str
) -> None:
    """Store a planned top-up: its HITs follow the round's, with ``seats`` each. Call it in a transaction that has
    locked the round. ``expected``: what further votes on doubtful pairs are expected to bring, for the event."""
    round = top_up.round
    top_up.plan_hash = plan.hash
    top_up.created_at = clock.now()
    top_up.save(force_insert=True)
    last = round.hits.aggregate(last=Max("number"))["last"] or 0
    write_hits(round, plan, first=last + 1, seats=seats, top_up=top_up.pk)
    why = {
        "models": sorted(top_up.rankings),
        "audit_share": top_up.audit_share,
        "likely_matches": top_up.opened is not None,
        "rejected_pairs": len(top_up.rejected["pairs"]) if top_up.rejected else 0,
    }
    stated = {name: value for name, value in why.items() if value} | (expected or {})
    record("topped up", round, actor=actor, number=top_up.number, hits=plan.n_hits, plan_hash=plan.hash, **stated)


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
    return pack_top_up(top_up, asked, newest=newest)


def _plan(
    round: Round, sides: Sides, pairs: NDArray[np.int64], number: int, avoided: Avoided, no_controls: NDArray[np.int64]
) -> Plan:
    seed = derived_seed(round.seed, number)
    sharing = round.summary.get("sharing", "avoid")
    design = parse_design(round.design)
    return plan_pairs(PlanRequest(round.pool, sides, pairs, design, seed, sharing, avoided.and_pairs(no_controls)))
