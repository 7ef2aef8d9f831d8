"""Top-ups and their cost: first items of models, further queries of an audit, likely matches, a sample of pairs to
reject, or further votes on doubtful pairs."""

from collections.abc import Collection as Names
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Annotated, Any

from django import forms
from django.db import transaction

from annotation.money.budget import locked, room
from annotation.platforms import want_seats_posted
from core.errors import CounterpartError, some_of
from core.parameters import NamesField, Option, Parameters, ShareField
from core.progress import Progress, silent
from core.seeds import derived_seed
from core.text import counted
from corpus.models import Caption, Image
from evaluation.asking.automatic_zone import MOST, SAMPLE, Zone, zone_of
from evaluation.asking.judging_again import Again, judge_again
from evaluation.asking.likely_matches import Batch, LikelyMatches, pairs_of
from evaluation.auditing.asked_pairs import Pairs, added_pairs, asked_pairs, of_drawn_queries, unasked_pairs
from evaluation.auditing.round_estimates import EstimateParameters, model_estimates
from evaluation.auditing.whole_queries import WholeQueries, whole_queries
from evaluation.models import Run
from evaluation.scores.model_rankings import places_of_run, registered_runs
from hits.controls import Keys, avoided_pairs
from hits.judge_designs import JudgeDesign
from hits.models import Round, TopUp
from hits.packing.plan import Plan
from hits.round_parameters import DollarField
from hits.task_types import require_pairs, task_type_of
from hits.top_ups import add_top_up, design_of, pack_top_up


@dataclass(frozen=True, kw_only=True)
class TopUpParameters(Parameters):
    """Which new pairs, or further votes, a round is topped up by."""

    models: Annotated[
        tuple[str, ...],
        NamesField(
            required=False,
            help_text="registered models whose first items are asked (default: all that lack some)",
        ),
    ] = ()
    audit_share: Annotated[
        float | None,
        ShareField(
            help_text="in place of models, continue the audit to this share of the queries, in the order of its draw"
        ),
    ] = None

    likely: Annotated[
        int | None,
        forms.IntegerField(
            required=False,
            min_value=1,
            label="Likely matches",
            help_text="in place of models, add so many HITs of the pairs that are most likely matches; the audit stays "
            "the guard of the scores",
        ),
        Option(metavar="HITS"),
    ] = None
    reject_below: Annotated[
        float | None,
        forms.FloatField(
            required=False,
            min_value=0.001,
            max_value=MOST,
            label="Reject automatically up to",
            help_text=f"in place of models, reject the unjudged pairs whose probability of a match is at most this, at "
            f"most {MOST}, once a random sample of {SAMPLE} of them is judged; versions mark them and state how many "
            "matches they may hide",
        ),
        Option(metavar="P"),
    ] = None
    again: Annotated[
        Decimal | None,
        DollarField(
            required=False,
            label="Budget",
            help_text="in place of models, judge again: further votes for at most so many US dollars on the pairs "
            "whose verdicts they are expected to correct",
        ),
    ] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(map(bool, (self.models, self.audit_share, self.likely, self.reject_below, self.again))) > 1:
            raise CounterpartError(
                "Choose one of --models, --audit-share, --likely, --reject-below and --again. Top up one after the "
                "other."
            )


@dataclass(frozen=True)
class PlannedTopUp:
    """HITs that would be added to a round.

    Attributes:
        pairs: number of pairs that would be asked.
        seats: votes on each of them: as many as on the round's own, unless pairs are judged again.
        cost: US dollars, with the fees of the round's channel.
        runs: of the models whose first items are asked; none where an audit is continued.
        audit_share: share of the queries that the audit judges then; None where it stays.
        batch: of likely matches; None where none are asked.
        likely: what the probabilities said before it.
        width: of the widest interval of mAP@R, of any model and direction, before it.
        zone: the pairs to reject and the sample that is asked; None unless pairs are to be rejected.
        again: further votes on pairs that the round has asked; None where new pairs are asked.
    """

    round: Round
    pairs: int
    seats: int
    plan: Plan
    number: int
    avoided: Keys
    cost: Decimal
    runs: tuple[Run, ...] = ()
    audit_share: float | None = None
    batch: Batch | None = None
    likely: LikelyMatches | None = None
    width: float | None = None
    zone: Zone | None = None
    again: Again | None = None

    @property
    def models(self) -> list[str]:
        return [run.model for run in self.runs]


def plan_top_up(
    round: Round, parameters: TopUpParameters | None = None, *, progress: Progress = silent
) -> PlannedTopUp:
    """Plan HITs for pairs that the round has not asked, or is to ask again. Nothing is written.

    For models, these are the first items of their rankings: as deep as the pool is, of the audited queries, or of all
    queries where the round asks all pairs; first hits alone where it asks those. For a greater share of an audit, they
    are the pairs of the next queries in its order, in the pool and among the first items of models that it was topped
    up for. Likely matches come by their probabilities, which are learned from the audited queries; so do the unlikely
    pairs that are rejected.

    Raises CounterpartError for a closed round, unknown models, a share that is not greater, a second zone of rejected
    pairs, and where nothing lacks.
    """
    given = parameters or TopUpParameters()
    require_addable(round)
    progress("reading rankings", 0, None)
    if given.audit_share:
        return _longer_audit(round, given.audit_share)
    if given.likely:
        return _likely(round, given.likely, progress)
    if given.reject_below:
        return _rejecting(round, given.reject_below, progress)
    if given.again is not None:
        again = judge_again(round, given.again)
        return _planned(round, set(again.pairs), nothing="", seats=again.votes, again=again)
    return _for_models(round, given.models)


def require_addable(round: Round) -> None:
    """Raise CounterpartError unless HITs can be added to the round."""
    require_pairs(round)
    if task_type_of(round).group > 1:
        raise CounterpartError(f"Round {round} asks about several pairs together: it cannot be topped up.")
    if round.state == "closed":
        raise CounterpartError(f"Round {round} is closed: no HIT can be added. Plan a new round of its pool.")


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
    pairs = of_drawn_queries(round, longer, pooled | added_pairs(round)) - asked_pairs(round)
    nothing = f"The next queries of round {round} have no further pairs: nothing to add."
    return _planned(round, pairs, nothing=nothing, audit_share=share)


def _likely(round: Round, hits: int, progress: Progress) -> PlannedTopUp:
    wholes = _audited(round, progress)
    likely = LikelyMatches.of(wholes, stop_recall=design_of(round).stop_recall)
    batch = likely.next_batch(hits * round.design["candidates"])
    nothing = f"Every pair of round {round} is judged: nothing to add."
    width = _widest_interval(wholes)
    return _planned(round, set(batch.asked), nothing=nothing, batch=batch, likely=likely, width=width)


def _rejecting(round: Round, below: float, progress: Progress) -> PlannedTopUp:
    if round.top_ups.exclude(rejected__isnull=True).exists():
        raise CounterpartError(f"Round {round} rejects pairs already: their sample was drawn once, and stays.")
    candidates = round.design["candidates"]
    seed = derived_seed(round.seed, round.top_ups.count() + 1)
    sample = ceil(SAMPLE / candidates) * candidates
    zone = zone_of(LikelyMatches.of(_audited(round, progress)), below=below, sample=sample, seed=seed)
    return _planned(round, set(pairs_of(zone.asked)), nothing="", zone=zone)


def _audited(round: Round, progress: Progress) -> list[WholeQueries]:
    """Return the queries of an audit that is judged, with every top-up of new pairs."""
    if design_of(round).judge != "audit":
        raise CounterpartError(f"Round {round} is no audit: nothing says which of its pairs are likely matches.")
    if TopUp.objects.unfinished().filter(round=round).exists():
        raise CounterpartError(f"The last top-up of round {round} is not judged yet. Plan the next one after it.")
    wholes = list(whole_queries(round, progress=progress))
    if lacking := sum(int((one.drawn & ~one.audited).sum()) for one in wholes):
        raise CounterpartError(
            f"{counted(lacking, 'audited query lacks', 'audited queries lack')} verdicts in round {round}. Likely "
            "matches follow once the audit is judged."
        )
    return wholes


def _widest_interval(wholes: Sequence[WholeQueries]) -> float:
    """Return the width of the widest interval of mAP@R, of any model and direction, as the audit guards it."""
    given = EstimateParameters(metric=("mAP@R",))
    return max(one.estimate.high - one.estimate.low for whole in wholes for one in model_estimates(whole, given))


@transaction.atomic
def add_planned(planned: PlannedTopUp, *, actor: str) -> None:
    """Add the planned HITs to the round, with their seats, and have them posted.

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
        seats=planned.seats,
        rankings={run.model: run.sha256 for run in planned.runs},
        audit_share=planned.audit_share,
        opened=_keys(planned.round, planned.batch.audited) if planned.batch else None,
        rejected=_rejected(planned.round, planned.zone) if planned.zone else None,
        expected=planned.again.figures if planned.again else None,
        actor=actor,
    )
    want_seats_posted(current)


def _rejected(round: Round, zone: Zone) -> dict[str, Any]:
    return {"below": zone.below, "pairs": _keys(round, pairs_of(zone.pairs))}


def _keys(round: Round, pairs: list[tuple[int, int]]) -> list[list[str]]:
    collection = round.pool.collection
    images, captions = (dict(side.values_list("pk", "key")) for side in (collection.images, collection.captions))
    return [[images[image], captions[caption]] for image, caption in pairs]


def _planned(round: Round, pairs: Pairs, *, nothing: str, seats: int | None = None, **more: Any) -> PlannedTopUp:
    pairs = _without_excluded(pairs)
    if not pairs:
        raise CounterpartError(nothing)
    number = round.top_ups.count() + 1
    avoided = avoided_pairs(round.pool.collection)
    plan = pack_top_up(round, sorted(pairs), number=number, avoided=avoided)
    seats = seats or round.replication
    cost = round.seat_cost * plan.n_hits * seats
    return PlannedTopUp(round, len(pairs), seats, plan, number, avoided, cost, **more)


def _without_excluded(pairs: Pairs) -> Pairs:
    images, captions = (
        set(side.objects.filter(excluded_at__isnull=False).values_list("pk", flat=True)) for side in (Image, Caption)
    )
    return {(image, caption) for image, caption in pairs if image not in images and caption not in captions}
