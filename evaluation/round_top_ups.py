"""Top-ups of new pairs: what it costs to score registered models by a round, or to continue its audit."""

from collections.abc import Collection as Names
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from django import forms
from django.db import transaction

from annotation.money.budget import locked, room
from annotation.platforms import want_seats_posted
from core.errors import CounterpartError, some_of
from core.parameters import NamesField, Option, Parameters
from core.progress import Progress, silent
from core.text import counted
from corpus.models import Caption, Image
from evaluation.metrics import Rankings
from evaluation.model_rankings import first_pairs, places_of_run, registered_runs
from evaluation.models import Run
from hits.controls import Keys, avoided_pairs
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Item, Round, TopUp
from hits.packing.plan import Plan
from hits.task_types import require_pairs, task_type_of
from hits.top_ups import add_top_up, design_of, pack_top_up
from mitl.models import Direction

Pairs = set[tuple[int, int]]
"""Ids of image and caption."""
Places = Mapping[Direction, Rankings]


@dataclass(frozen=True, kw_only=True)
class TopUpParameters(Parameters):
    """Which new pairs a round is topped up by."""

    models: Annotated[
        tuple[str, ...],
        NamesField(
            required=False,
            help_text="registered models whose first items are asked (default: all that lack some)",
        ),
    ] = ()
    audit_share: Annotated[
        float | None,
        forms.FloatField(
            required=False,
            min_value=0.01,
            max_value=1,
            help_text="in place of models, continue the audit to this share of the queries, in the order of its draw",
        ),
        Option(metavar="SHARE"),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.models and self.audit_share:
            raise CounterpartError(
                "Invalid option --audit-share: leave it or --models out. Top up one after the other."
            )


@dataclass(frozen=True)
class PlannedTopUp:
    """HITs that would be added to a round.

    Attributes:
        pairs: number of pairs that would be asked, each as often as the round's own.
        cost: US dollars, with the fees of the round's channel.
        runs: of the models whose first items are asked; none where an audit is continued.
        audit_share: share of the queries that the audit judges then; None where it stays.
    """

    round: Round
    pairs: int
    plan: Plan
    number: int
    avoided: Keys
    cost: Decimal
    runs: tuple[Run, ...] = ()
    audit_share: float | None = None

    @property
    def models(self) -> list[str]:
        return [run.model for run in self.runs]


def plan_top_up(
    round: Round, parameters: TopUpParameters | None = None, *, progress: Progress = silent
) -> PlannedTopUp:
    """Plan HITs for pairs that the round has not asked. Nothing is written.

    For models, these are the first items of their rankings: as deep as the pool is, of the audited queries, or of all
    queries where the round asks all pairs; first hits alone where it asks those. For a greater share of an audit, they
    are the pairs of the next queries in its order, in the pool and among the first items of models that it was topped
    up for.

    Raises CounterpartError for a closed round, unknown models, a share that is not greater, and where nothing lacks.
    """
    given = parameters or TopUpParameters()
    require_pairs(round)
    if task_type_of(round).group > 1:
        raise CounterpartError(f"Round {round} asks about several pairs together: it cannot be topped up.")
    if round.state == "closed":
        raise CounterpartError(f"Round {round} is closed: no HIT can be added. Plan a new round of its pool.")
    progress("reading rankings", 0, None)
    if given.audit_share:
        return _longer_audit(round, given.audit_share)
    return _for_models(round, given.models)


def _for_models(round: Round, models: Names[str]) -> PlannedTopUp:
    runs = registered_runs(round.pool)
    if not runs:
        raise CounterpartError(
            f"No model is registered beside the pool of round {round}. Register rankings with --rankings FILE, or on "
            "the leaderboard."
        )
    unknown = [name for name in models if name not in runs]
    if unknown:
        raise CounterpartError(
            f"{counted(len(unknown), 'model is', 'models are')} not registered beside the pool: {some_of(unknown)}; "
            f"there are {some_of(list(runs))}."
        )
    chosen = {name: run for name, run in runs.items() if name in (models or runs)}
    design, depth = design_of(round), round.pool.top_k
    lacking = unasked_pairs(round, design, {name: places_of_run(run, depth) for name, run in chosen.items()})
    pairs = {pair for one in lacking.values() for pair in one}
    return _planned(
        round,
        pairs,
        nothing=f"Round {round} lacks no pair of {some_of(list(chosen))}: nothing to add.",
        runs=tuple(run for name, run in chosen.items() if lacking[name]),
    )


def _longer_audit(round: Round, share: float) -> PlannedTopUp:
    design = design_of(round)
    if design.judge != "audit":
        raise CounterpartError(f"Round {round} asks {design.judge} pairs: only an audit can be continued.")
    if share <= design.share:
        raise CounterpartError(
            f"The audit of round {round} judges {design.share:.0%} of the queries. Continue it to more, up to 1."
        )
    pooled = set(round.pool.proposals.order_by().values_list("image_id", "caption_id").distinct())
    longer = JudgeDesign("audit", share)
    pairs = _of_drawn_queries(round, longer, pooled | added_pairs(round)) - _asked(round)
    nothing = f"The next queries of round {round} have no further pairs: nothing to add."
    return _planned(round, pairs, nothing=nothing, audit_share=share)


@transaction.atomic
def add_planned(planned: PlannedTopUp, *, actor: str) -> None:
    """Add the planned HITs to the round, with as many seats each as its own HITs have, and have them posted.

    Raises CounterpartError where the round has changed since, and where its ceiling does not leave the cost.
    """
    current = locked(planned.round)
    if current.state == "closed" or current.top_ups.count() + 1 != planned.number:
        raise CounterpartError(f"Round {current} has changed since this top-up was planned. Plan it again.")
    left = room(current, beside_waiting=True)
    if planned.cost > left:
        raise CounterpartError(
            f"The top-up costs ${planned.cost:,}; round {current} has ${max(left, Decimal(0)):,} left below its "
            f"ceiling of ${current.ceiling:,}. Raise it with set_ceiling."
        )
    add_top_up(
        current,
        planned.plan,
        number=planned.number,
        avoided=planned.avoided,
        seats=current.replication,
        rankings={run.model: run.sha256 for run in planned.runs},
        audit_share=planned.audit_share,
        actor=actor,
    )
    want_seats_posted(current)


def unasked_pairs(
    round: Round, design: JudgeDesign, models: Mapping[str, Places], *, without: Sequence[int] = ()
) -> dict[str, Pairs]:
    """Return the pairs in the first places of each model's lists that the round does not ask, though by its ``design``
    it asks others of the same query. ``without``: numbers of HITs that do not count."""
    depth = 1 if design.judge == "first-hits" else round.pool.top_k
    asked = _asked(round, without)
    return {
        name: _of_drawn_queries(round, design, first_pairs(round.pool, places, depth)) - asked
        for name, places in models.items()
    }


def waiting_hits(round: Round) -> list[int]:
    """Return the numbers of the HITs of unfinished top-ups of new pairs."""
    return list(round.hits.filter(top_up__in=TopUp.objects.unfinished()).values_list("number", flat=True))


def added_pairs(round: Round, *, finished: bool = False) -> Pairs:
    """Return the first pairs of the models that the round was topped up for, of all its pool's queries: those of
    audited queries were asked. ``finished``: only of top-ups whose answers are in.

    Raises CounterpartError if the rankings of a model were not kept.
    """
    pool = round.pool
    counting = round.top_ups.exclude(rankings={})
    if finished:
        counting = counting.exclude(pk__in=TopUp.objects.unfinished())
    pairs: Pairs = set()
    for rankings in counting.values_list("rankings", flat=True):
        for model, sha256 in rankings.items():
            run = Run.objects.filter(collection=pool.collection, model=model, sha256=sha256).exclude(file="").first()
            if run is None:
                raise CounterpartError(
                    f"The rankings of {model}, for which round {round} was topped up, are gone. Register the same file "
                    "again."
                )
            pairs |= first_pairs(pool, places_of_run(run, pool.top_k), pool.top_k)
    return pairs


def _planned(
    round: Round, pairs: Pairs, *, nothing: str, runs: tuple[Run, ...] = (), audit_share: float | None = None
) -> PlannedTopUp:
    pairs = _without_excluded(pairs)
    if not pairs:
        raise CounterpartError(nothing)
    number = round.top_ups.count() + 1
    avoided = avoided_pairs(round.pool.collection)
    plan = pack_top_up(round, sorted(pairs), number=number, avoided=avoided)
    cost = round.seat_cost * plan.n_hits * round.replication
    return PlannedTopUp(round, len(pairs), plan, number, avoided, cost, runs, audit_share)


def _of_drawn_queries(round: Round, design: JudgeDesign, pairs: Pairs) -> Pairs:
    """Return the pairs whose image or caption is an audited query; of a round that is no audit, all."""
    if design.judge != "audit":
        return pairs
    drawn = audited_queries(round.pool, design, round.seed)
    images = set(drawn.get(Direction.IMAGE_TO_CAPTION, {}).values())
    captions = set(drawn.get(Direction.CAPTION_TO_IMAGE, {}).values())
    return {(image, caption) for image, caption in pairs if image in images or caption in captions}


def _asked(round: Round, without: Sequence[int] = ()) -> Pairs:
    items = Item.objects.filter(hit__round=round, control=None).exclude(hit__number__in=without)
    return set(items.order_by().values_list("image_id", "caption_id"))


def _without_excluded(pairs: Pairs) -> Pairs:
    images, captions = (
        set(side.objects.filter(excluded_at__isnull=False).values_list("pk", flat=True)) for side in (Image, Caption)
    )
    return {(image, caption) for image, caption in pairs if image not in images and caption not in captions}
