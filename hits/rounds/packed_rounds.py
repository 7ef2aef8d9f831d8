"""A pool packed into a round: its HITs, controls and seats, written at once, its cost, and what was predicted of it."""

import secrets
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count

from core.errors import CounterpartError
from core.events import record
from core.progress import Progress, silent
from core.seeds import LARGEST_SEED
from core.text import check_name
from core.work.authority import check_authority
from corpus.batches import refuse_undone, undone_in
from corpus.models import Image
from hits.controls import Avoided, Keys, avoided_pairs, known_matches, original_pairs, spared_originals
from hits.judge_designs import JudgeDesign, queries_of
from hits.models import Item, Round
from hits.packing.designs import Design
from hits.packing.plan import Plan, Sharing
from hits.pair_plans import Newest, PlanRequest, newest_of, number_collection
from hits.prices import Costs, cents, costs_by_channel, fair_reward
from hits.rounds.round_parameters import PackParameters
from hits.rounds.rows import write_hits
from hits.task_types import TASK_TYPES, task_type_of
from hits.task_types.task_type import TaskType
from mitl.models import Pool


def pack_round(
    name: str, pool: Pool, parameters: PackParameters, *, actor: str = "command", progress: Progress = silent
) -> Round:
    """Pack the pool's distinct pairs into a draft round of ``ceil(pairs / candidates)`` HITs.

    Every pair is a candidate of exactly one HIT, unless a review excluded its image or caption; the last HIT is filled
    up with further gold controls. With ``sharing`` "avoid" no two items of a HIT share an image or a caption if the
    pool allows it; the summary counts the exceptions. No pair is a control that was retired in another round or has an
    excluded image or caption, no negative control is a match that any source knows, and no positive control is a
    candidate of the round while there are enough others. The summary lists what was ``avoided``, counts the
    ``excluded_pairs``, and notes the ``newest`` image, caption and match, so that the round can be packed again when
    others were added. The ceiling must cover at least the cost on the cheapest channel. The same name, pool and
    parameters again return the existing round. The same pool and seed give the same plan in every database where the
    same is avoided and known; without a seed one is drawn at random, as a person who knows it can compute which pairs
    are controls.

    Raises CounterpartError for a pool smaller than one HIT, a cost above the ceiling, a pool without controls, or a
    name that another round has; nothing is written then.
    """
    check_name(name)
    existing = _find(name)
    seed = parameters.seed
    if seed is None:
        seed = existing.seed if existing else secrets.randbelow(LARGEST_SEED + 1)
    undone = undone_in(pool.collection)
    newest = existing.summary.get("newest") if existing else newest_of(pool.collection)
    avoided = existing.summary.get("avoided", []) if existing else avoided_pairs(pool.collection)
    judge = parameters.judge_design(queries_of(pool))
    plan = make_plan(
        pool,
        task=TASK_TYPES[parameters.task],
        design=parameters.composition,
        seed=seed,
        sharing=parameters.sharing,
        avoided=avoided,
        newest=newest,
        positives=parameters.positives,
        judge=judge,
        progress=progress,
    )
    costs = costs_by_channel(parameters.pay, assignments=plan.n_hits * parameters.seats)
    _check_ceiling(parameters, plan, costs)
    fields = _fields_of(pool, plan, parameters, seed)
    if existing:
        return _same(existing, fields, judge)
    fields["summary"] = _summary(pool, plan, parameters, costs, judge) | {"newest": newest}
    fields["summary"] |= {"avoided": avoided} if avoided else {}
    try:
        return _write(name, fields, plan, undone, actor, progress)
    except IntegrityError:
        if _find(name):  # another process packed a round with this name in the meantime
            return pack_round(name, pool, parameters, actor=actor, progress=progress)
        raise


PREDICTED = "predicted"
"""The key in a round's summary of what a plan predicted of it; who plans knows what it means."""
OF_PAIRS = ("items", "positives", "negatives", "topped_up", "shared_images", "shared_captions", "sharing")
"""The figures of a plan that have no meaning where its items are not pairs."""


def figures_of(packed: Round) -> dict[str, Any]:
    """Return a round's counts, and its cost on each channel, as ``pack`` and ``plan_round`` print them. Counts of pairs
    and controls are left out of a round that is not about pairs."""
    task = task_type_of(packed)
    left_out = {"avoided", "newest", "judge", "stopped", "rehearsed", PREDICTED} | (
        set() if task.on_pairs else set(OF_PAIRS)
    )
    named = {task.items if name == "pairs" else name: what for name, what in packed.summary.items()}
    summary = {name: what for name, what in named.items() if name not in left_out}
    costs = {f"cost_{channel}": Decimal(cost["total"]) for channel, cost in summary.pop("cost").items()}
    design = JudgeDesign.from_json(packed.summary.get("judge"))
    note = design.guard_note(queries_of(packed.pool)) if design.greedy else ""
    judge = design.figures() | ({"guard": note} if note else {})
    pay = {"reward": packed.reward, "wage": wage_of(packed), **costs, "ceiling": packed.ceiling}
    return {"round": packed.name, **judge, **summary, **pay, **above_ceiling(packed)}


def wage_of(packed: Round) -> str:
    """Describe what the reward is worth an hour in the usual time of slow workers, next to the round's wage floor."""
    seconds = task_type_of(packed).usual_seconds
    fair = fair_reward(seconds, packed.wage_floor)
    wage = f"${cents(packed.reward * 3600 / seconds)} an hour for the usual {seconds // 60} minutes"
    if packed.reward >= fair:
        return f"{wage}, the floor" if packed.reward == fair else f"{wage}; the floor is ${packed.wage_floor}"
    return (
        f"{wage}, below the floor of ${packed.wage_floor}: pass --reward {fair} or leave --reward out. publish asks "
        "for --expected-minutes, a pilot, or --below-floor"
    )


def above_ceiling(packed: Round) -> dict[str, str]:
    """Return on which channels the round would cost more than its ceiling, and by how much; nothing where on none."""
    costs = {channel: Decimal(cost["total"]) for channel, cost in packed.summary["cost"].items()}
    above = {channel: cost for channel, cost in costs.items() if cost > packed.ceiling}
    if not above:
        return {}
    named = ", ".join(f"{channel} by ${cost - packed.ceiling:,}" for channel, cost in above.items())
    raise_it = f"set_ceiling {packed} {max(above.values())}"
    return {"above_the_ceiling": f"{named}: publish refuses the round there. ({raise_it})"}


def keep_prediction(round: Round, predicted: dict[str, Any], *, actor: str) -> dict[str, Any]:
    """Keep the prediction, JSON, with a round that has none; return the one that it has then."""
    with round.held_for_summary() as held:
        if PREDICTED not in held.summary:
            held.summary[PREDICTED] = predicted
            record("predicted", held, actor=actor)
    kept: dict[str, Any] = round.summary[PREDICTED]
    return kept


def repeats_of(round: Round) -> int:
    """Return the number of HITs of the control with a picture that is in most HITs. A worker can take only one of
    these, because no worker judges a pair twice."""
    items = Item.objects.filter(control__round=round, image__isnull=False).order_by().values("control")
    return items.annotate(n=Count("hit")).order_by("-n").values_list("n", flat=True).first() or 0


def missing_pictures(round: Round) -> list[str]:
    """Return the keys of the images that the round's pairs show and that have no file."""
    without_file = Image.objects.without_file().filter(collection=round.pool.collection)
    if not without_file.exists():  # as a rule, and known sooner than which images are shown
        return []
    shown = Item.objects.filter(hit__round=round)
    return list(without_file.filter(pk__in=shown.values("image")).values_list("key", flat=True))


def make_plan(
    pool: Pool,
    *,
    task: TaskType,
    design: Design,
    seed: int,
    sharing: Sharing,
    avoided: Keys | None = None,
    newest: Newest | None = None,
    positives: str = "",
    judge: JudgeDesign | None = None,
    progress: Progress,
) -> Plan:
    """Pack a pool's distinct pairs into HITs as their type wants them, with controls and without what is ``avoided`` or
    was added after the ``newest`` (``hits.pair_plans.Newest``; None: nothing was); of these, the pairs that ``judge``
    asks (default: all).

    Where ``newest`` names no match, as in rounds of earlier programs, negative controls may be known matches and
    positive ones candidates.

    Raises CounterpartError if the pool does not fill one HIT or has no controls.
    """
    progress("reading the pool", 0, None)
    sides = number_collection(pool.collection, newest)
    proposed = pool.proposals.values_list("image_id", "caption_id").distinct()
    pairs = sides.pair_codes(proposed.iterator(chunk_size=20_000))
    coded = Avoided.of(avoided or [], sides)
    asked = pairs[coded.allows(pairs)]
    if not task.writes:
        _check_size(pool, design, asked=len(asked), excluded=len(pairs) - len(asked))
    if judge:
        asked = judge.asked(pool, sides, asked, seed)
        _check_asked(pool, design, asked=len(asked), judge=judge)
    if newest and "matches" in newest and design.controls:
        coded = coded.and_pairs(
            known_matches(pool.collection, sides, newest=newest["matches"]),
            spared_originals(original_pairs(pool.sample, sides), asked, sides, design),
        )
    in_order = judge is not None and judge.judge == "audit"
    return task.plan(PlanRequest(pool, sides, asked, design, seed, sharing, coded, positives, in_order, progress))


def _check_size(pool: Pool, design: Design, *, asked: int, excluded: int) -> None:
    if asked < design.candidates:
        without = f" without the {excluded} whose image or caption a review excluded" if excluded else ""
        raise CounterpartError(
            f"The pool {pool.name} holds {asked} pairs{without}, fewer than the {design.candidates} of one "
            f"{design.name} HIT. "
            "Pool more queries or a greater --top-k, or choose a smaller design."
        )


def _check_asked(pool: Pool, design: Design, *, asked: int, judge: JudgeDesign) -> None:
    if asked < design.candidates and judge.judge != "all":
        raise CounterpartError(
            f"The design {judge.judge} asks {asked} pairs of the pool {pool.name}, fewer than the {design.candidates} "
            f"of one {design.name} HIT. Raise --audit-share, or pool more queries."
        )


def _find(name: str) -> Round | None:
    return Round.objects.filter(name=name).first()


def _same(existing: Round, fields: dict[str, Any], judge: JudgeDesign) -> Round:
    """Return the existing round of this name if it was packed with the same parameters."""
    different = [field for field, value in fields.items() if getattr(existing, field) != value]
    if not different and JudgeDesign.from_json(existing.summary.get("judge")) != judge:
        different = ["choice of pairs"]
    if different:
        raise CounterpartError(
            f"Round {existing.name} already exists with a different {', '.join(different).replace('_', ' ')}. "
            "Choose another name, or repeat the same parameters."
        )
    return existing


def _check_ceiling(parameters: PackParameters, plan: Plan, costs: Costs) -> None:
    """Raise CounterpartError if the round costs more than the ceiling on every channel.

    Publishing checks again with the fees of the chosen channel.
    """
    total = min(Decimal(cost["total"]) for cost in costs.values())
    if total > parameters.ceiling:
        raise CounterpartError(
            f"{plan.n_hits * parameters.seats:,} assignments at ${parameters.pay} cost ${total:,}, above the "
            f"ceiling of ${parameters.ceiling:,}. Raise --ceiling, or lower --reward or --replication."
        )


def _fields_of(pool: Pool, plan: Plan, parameters: PackParameters, seed: int) -> dict[str, Any]:
    return {
        "pool": pool,
        "task": parameters.task,
        "design": parameters.composition.as_json(),
        "replication": parameters.seats,
        "seed": seed,
        "reward": parameters.pay,
        **{name: getattr(parameters, name) for name in ("reasons", "top_up", "ceiling")},
        "plan_hash": plan.hash,
    }


def _summary(pool: Pool, plan: Plan, parameters: PackParameters, costs: Costs, judge: JudgeDesign) -> dict[str, Any]:
    counts = plan.counts()
    left = pool.n_pairs - (counts["pairs"] - plan.padded) if TASK_TYPES[parameters.task].on_pairs else 0
    noted = {
        "excluded_pairs" if judge.judge == "all" else "unasked_pairs": left,
        "positives_of": parameters.positives,
        "judge": judge.as_json(),
    }
    return {
        **counts,
        "seats": plan.n_hits * parameters.seats,
        "sharing": parameters.sharing,
        "cost": costs,
        "plan_hash": plan.hash,
        **{name: what for name, what in noted.items() if what},
    }


@transaction.atomic
def _write(name: str, fields: dict[str, Any], plan: Plan, undone: int, actor: str, progress: Progress) -> Round:
    check_authority()
    refuse_undone(fields["pool"].collection, undone)
    wording = TASK_TYPES[fields["task"]].latest_wording
    packed = Round.objects.create(name=name, join_key=secrets.token_urlsafe(24), wording=wording, **fields)
    write_hits(packed, plan, first=1, seats=packed.replication, progress=progress)
    record("packed", packed, actor=actor, hits=plan.n_hits, plan_hash=packed.plan_hash)
    return packed
