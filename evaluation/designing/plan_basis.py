"""What plans rest on: the judgments of a round, or labels of a pool that are simulated from stated priors."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any, Self

import numpy as np
from django.db.models import Q

from annotation.judging.wage_terms import fair_reward_suggested
from annotation.models import Judgment
from core.errors import CounterpartError
from core.progress import Progress, silent
from core.text import counted
from evaluation.auditing.estimation_inputs import PooledQueries, load_pooled_queries
from evaluation.auditing.round_estimates import EstimateParameters, model_estimates
from evaluation.auditing.whole_queries import FEW, WholeQueries, whole_queries
from evaluation.estimation import (
    METRICS,
    Matches,
    Outlook,
    Pilot,
    audit_order,
    match_curve,
    outlook_of,
    prior_probability,
    simulated_gains,
)
from hits.designs import DEFAULT, DESIGNS
from hits.models import Round
from hits.task_types import TASK_TYPES, require_pairs
from mitl.models import Direction, Pool

PILOT_SHARE = 0.05
POINTS = 21
"""Points of the curve of matches that are kept."""
AUDITED_TASKS = [name for name, task in TASK_TYPES.items() if task.on_pairs and task.group == 1]
"""The types of task whose rounds may ask a part of a pool's pairs."""

Widths = Mapping[tuple[str, str], float]
"""The width of the widest interval of any model, by direction and metric."""


@dataclass(frozen=True)
class Prior:
    """What is stated of a pool that nobody judged: the arguments of ``prior_probability``."""

    match_rate: float
    rank_effect: float

    def __str__(self) -> str:
        return (
            f"priors, not judgments: {self.match_rate:.0%} of the pairs match, with odds by annotators and best rank "
            f"to the power of {self.rank_effect:g}"
        )


@dataclass(frozen=True)
class Side:
    """One direction.

    Attributes:
        yes: matches that the pilot found.
        curve: shares of the judgments of a round of all pairs, and the matches found by then; empty where
            ``no_curve`` says why.
    """

    yes: int
    outlook: Outlook
    curve: tuple[tuple[float, float], ...]
    no_curve: str


@dataclass(frozen=True)
class PoolPairs:
    """Pairs of the pool whose image is a query, whose caption is one, with both, and that an annotator ranks first."""

    of_images: int
    of_captions: int
    of_both: int
    first_hits: int

    def asked(self, share: float, spread: float) -> float:
        """Return the pairs of an audit: one of two audited queries is asked once."""
        return share * (self.of_images + self.of_captions) - self.of_both * share**2 / spread


@dataclass(frozen=True)
class Measured:
    """What the judgments of the round tell: matches of its audited queries, and how many drawn queries lack some."""

    matches: int
    missing: int
    widths: Widths


@dataclass(frozen=True)
class PlanBasis:
    """What is known of all directions of a pool; ``prior`` and ``measured``: the one that it is known by."""

    source: str
    sides: Mapping[str, Side]
    pairs: PoolPairs
    prior: Prior | None = None
    measured: Measured | None = None

    def __str__(self) -> str:
        return str(self.prior) if self.prior else f"the judgments of {self.source}"

    @property
    def queries(self) -> int:
        return sum(side.outlook.queries for side in self.sides.values())

    def widths(self, share: float, spread: float) -> Widths:
        """Return the widths of an audit of so many times the queries for this share of the judgments."""
        found = {name: side.outlook.audit_widths(share, spread) for name, side in self.sides.items()}
        return {
            (name, metric): float(widths[number].max())
            for name, widths in found.items()
            for number, metric in enumerate(METRICS)
        }

    def as_json(self) -> str:
        told = asdict(self)
        if self.measured:
            told["measured"]["widths"] = [[*key, width] for key, width in self.measured.widths.items()]
        return json.dumps(told, default=np.ndarray.tolist)

    @classmethod
    def from_json(cls, text: str) -> Self:
        told = json.loads(text)
        measured = told["measured"]
        if measured:
            measured["widths"] = {(side, metric): width for side, metric, width in measured["widths"]}
        return cls(
            told["source"],
            {name: _side_of(side) for name, side in told["sides"].items()},
            PoolPairs(**told["pairs"]),
            Prior(**told["prior"]) if told["prior"] else None,
            Measured(**measured) if measured else None,
        )


def _side_of(told: dict[str, Any]) -> Side:
    one = told["outlook"]
    widths, quality = np.array(one["widths"]), np.array(one["quality"])
    outlook = Outlook(one["queries"], one["pairs"], Matches(**one["matches"]), widths, quality)
    return Side(told["yes"], outlook, tuple((share, found) for share, found in told["curve"]), told["no_curve"])


def planned_round(name: str) -> Round:
    """Return the round of this name; else one that is not stored, of the pool of this name, with the composition and
    pay of ``unpacked_round``.

    Raises CounterpartError where there is neither.
    """
    if found := Round.objects.select_related("pool__collection").filter(name=name).first():
        return found
    if pool := Pool.objects.select_related("collection").filter(name=name).first():
        return unpacked_round(pool)
    raise CounterpartError(f"There is no round and no pool named {name}. Name a round, or a pool that `pool` has made.")


def unpacked_round(pool: Pool) -> Round:
    """Return a round of the pool that is not stored, with the composition and pay of its latest that may be an audit;
    without one, with the usual composition and the reward that reaches the wage floor."""
    latest = pool.rounds.filter(task__in=AUDITED_TASKS).order_by("-created_at").first()
    kept = ("task", "design", "reward", "reasons", "replication")
    terms = {name: getattr(latest, name) for name in kept} if latest else {"reward": fair_reward_suggested({})}
    return Round(**{"pool": pool, "design": DESIGNS[DEFAULT].as_json(), "seed": 0, "name": pool.name} | terms)


def is_judged(round: Round) -> bool:
    """Whether a judgment of the round counts."""
    judged = Judgment.objects.counted().of_candidates().filter(assignment__hit__round=round.pk)
    return bool(round.pk) and judged.exists()


def basis_of(round: Round, prior: Prior, *, merge: str = "original", progress: Progress = silent) -> PlanBasis:
    """Return what the judgments of the round tell; without any, what the prior says of its pool.

    Raises CounterpartError as ``whole_queries`` does, and for a pool without two queries and pairs to ask.
    """
    require_pairs(round)
    pairs = _pairs_of(round.pool)
    if not is_judged(round):
        wholes = list(_simulated(round, prior, merge, progress))
        return PlanBasis(f"pool {round.pool}", _sides(wholes, progress), pairs, prior=prior)
    wholes = list(whole_queries(round, merge=merge, progress=progress))
    return PlanBasis(f"round {round}", _sides(wholes, progress), pairs, measured=_measured(wholes))


def _simulated(round: Round, prior: Prior, merge: str, progress: Progress) -> Iterator[WholeQueries]:
    """Yield the queries of each direction with labels that the prior draws, a random twentieth of them as the pilot."""
    pool = round.pool
    for stream, (direction, queries) in enumerate(
        load_pooled_queries(pool, None, merge=merge, progress=progress).items()
    ):
        annotators = len(queries.scores)
        p = prior_probability(
            queries.ranks[:annotators],
            queries.asked,
            top=pool.top_k,
            rate=prior.match_rate,
            rank_effect=prior.rank_effect,
        )
        gains = simulated_gains(p, queries.known, seed=stream)
        n = len(queries.keys)
        place = np.full(n, -1)
        order = audit_order(queries.keys, [round.seed, stream]).order[: max(FEW, ceil(PILOT_SHARE * n))]
        place[order] = np.arange(len(order))
        yield WholeQueries(
            round,
            direction,
            replace(queries, levels=np.select([gains == 1, gains > 0], [1.0, 2.0], 4.0)),
            place,
            frozenset(queries.models[:annotators]),
            np.zeros(gains.shape, bool),
        )


def _sides(wholes: list[WholeQueries], progress: Progress) -> dict[str, Side]:
    sides = {}
    for whole in wholes:
        progress("planning", 0, None)
        if len(whole.queries.keys) < 2 or not whole.queries.asked.any():
            raise CounterpartError(
                f"The pool has {counted(len(whole.queries.keys), 'query', 'queries')} ({whole.direction.label}) and "
                f"{counted(int(whole.queries.asked.sum()), 'pair')} to ask. A plan needs two queries, and pairs."
            )
        sides[whole.direction.value] = _side(whole)
    if not sides:
        raise CounterpartError("The pool's annotators rank no direction that it pools. Retrieve and pool again.")
    return sides


def _side(whole: WholeQueries) -> Side:
    pilot = _pilot(whole)
    queries = len(whole.queries.keys)
    curve, no_curve = list[tuple[float, float]](), ""
    if not len(pilot.rest):
        no_curve = "The pilot holds all pairs: there are no further matches to expect."
    else:
        try:
            matches = match_curve(pilot, queries)
        except ValueError as error:
            no_curve = str(error)
        else:
            places = np.linspace(0, len(matches) - 1, POINTS).astype(int)
            shares = (pilot.pairs.sum() + places) / pilot.all_pairs
            curve = list(zip(shares.tolist(), matches[places].tolist(), strict=True))
    return Side(int(pilot.matches.sum()), outlook_of(pilot, queries), tuple(curve), no_curve)


def _pilot(whole: WholeQueries) -> Pilot:
    queries, audited = whole.queries, whole.audited
    probabilities, proxy = whole.expectations
    return Pilot(
        whole.metrics[:, :, audited],
        proxy[:, :, audited],
        matches=_found(queries)[audited].sum(axis=1).astype(float),
        expected=probabilities[audited].sum(axis=1),
        pairs=queries.asked[audited].sum(axis=1).astype(float),
        rest=probabilities[~audited][queries.asked[~audited]],
    )


def _found(queries: PooledQueries) -> Any:
    """Return (Q, J): the matches that judgments found."""
    return (np.nan_to_num(queries.gains) > 0) & queries.asked


def _measured(wholes: list[WholeQueries]) -> Measured:
    widths: dict[tuple[str, str], float] = {}
    for whole in wholes:
        for one in model_estimates(whole, EstimateParameters(metric=METRICS)):
            key = one.direction.value, one.metric
            widths[key] = max(widths.get(key, 0.0), one.estimate.high - one.estimate.low)
    return Measured(
        matches=sum(int(_found(whole.queries)[whole.audited].sum()) for whole in wholes),
        missing=sum(int((whole.drawn & ~whole.audited).sum()) for whole in wholes),
        widths=widths,
    )


def _pairs_of(pool: Pool) -> PoolPairs:
    images, captions = Q(image__in=pool.sample.images.all()), Q(caption__in=pool.sample.captions.all())
    asking = [images, captions]
    sides = [side if one.value in pool.directions else Q(pk=None) for side, one in zip(asking, Direction, strict=True)]
    proposed = pool.proposals.order_by()

    def count(condition: Q) -> int:
        return proposed.filter(condition).values("image", "caption").distinct().count()

    return PoolPairs(count(sides[0]), count(sides[1]), count(sides[0] & sides[1]), count(Q(rank=1)))
