"""Live estimates: an audit's scores at looks that were fixed in advance, and what a stop at the last one saves."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from math import ceil
from typing import Annotated

import numpy as np
from django import forms
from django.db.models import Count, F, Max, Sum
from numpy.typing import NDArray

from annotation.models import Assignment, Payment
from annotation.work.judgments import votes_in
from core.errors import CounterpartError
from core.progress import Progress, silent, tracked
from counterpart_statistics.auditing.model_scores import ModelDifference, ModelEstimate, Width, interval_widths
from counterpart_statistics.estimation.intervals import FEWEST
from counterpart_statistics.selection.likely_matches import LikelyMatches
from counterpart_statistics.selection.pooled_queries import WholeQueries
from evaluation.auditing.round_estimates import EstimateParameters, ScoreParameters, scores_of
from evaluation.auditing.whole_queries import whole_queries
from evaluation.round_looks import Looks, Saving, arrived, look_sizes, saving_now, waiting_pairs
from hits.judge_designs import JudgeDesign
from hits.models import Round
from hits.prices import cents
from hits.task_types import require_pairs
from mitl.models import Direction


class LiveParameters(ScoreParameters):
    """What is estimated at each look, and how many looks there are."""

    looks: Annotated[
        int,
        forms.IntegerField(
            min_value=1, help_text="number of looks, evenly spread over the drawn queries; fix it before the first"
        ),
    ] = 5

    @property
    def of_a_look(self) -> EstimateParameters:
        """What is estimated at each look. Raises CounterpartError for an unknown metric."""
        shared = {name: getattr(self, name) for name in ("metric", "merge", "queries", "confidence", "looks")}
        return EstimateParameters(**shared)


@dataclass(frozen=True)
class LiveLook:
    """One look at a direction: after the first queries of the audit's order, all judged whole.

    Attributes:
        number: from 1.
        queries: that were judged whole, and ``share`` of the drawn ones, in 0..1.
        at: when the last of their answers was submitted; None where no answer was needed.
        hits, answer_sets: accepted HITs and answer sets of the round that were submitted until then, of all directions.
        dollars: what the work submitted until then has earned, bonuses and fees included.
        widths: of the intervals of ``models``, in their order.
    """

    number: int
    queries: int
    share: float
    at: datetime | None
    hits: int
    answer_sets: int
    dollars: Decimal
    models: tuple[ModelEstimate, ...]
    differences: tuple[ModelDifference, ...]
    widths: tuple[Width, ...]

    @property
    def widest(self) -> dict[str, Width]:
        """The widest interval of each metric, by its name."""
        ordered = sorted(self.widths, key=lambda one: -one.now)
        found = {one.metric: one for one in reversed(ordered)}
        return {one.metric: found[one.metric] for one in self.widths}


@dataclass(frozen=True)
class LiveDirection(Looks[LiveLook]):
    """What an audit says so far of one direction; the units are its drawn queries.

    Attributes:
        planned: queries at each of the looks, whether reached or not, ascending.
    """

    direction: Direction
    planned: tuple[int, ...]

    @property
    def next_look(self) -> int | None:
        """Queries at the next look; None after the last one."""
        return self.planned[len(self.looks)] if len(self.looks) < len(self.planned) else None


@dataclass(frozen=True)
class LiveEstimates:
    """An audit at its looks, by direction.

    Attributes:
        saving: what closing it now saves; None unless it is open.
        likely: the pairs by their probability, where likely matches follow the audit or have followed; else None. Its
            recall is estimated from the queries that count, in the order of the draw.
    """

    round: Round
    parameters: LiveParameters
    directions: tuple[LiveDirection, ...]
    saving: Saving | None
    likely: LikelyMatches | None

    @property
    def metrics(self) -> tuple[str, ...]:
        return self.parameters.metrics

    @property
    def is_finished(self) -> bool:
        return all(one.next_look is None for one in self.directions)


def measure_live(
    round: Round,
    parameters: LiveParameters | None = None,
    *,
    progress: Progress = silent,
) -> LiveEstimates:
    """Return the estimates of an audit at each look that it has reached, whether it is open or closed.

    Look j of K comes when the first ⌈j/K · n⌉ of the n drawn queries are judged whole, in the random order in which
    they were drawn: they are a smaller audit. The order in which queries are *finished* is not random, as those with
    many pairs take longer, so those that come after an unfinished one wait. An interval holds at all looks together,
    by Bonferroni's inequality.

    Raises CounterpartError for a round that is not an audit, and as ``estimate_round`` does.
    """
    require_pairs(round)
    parameters = parameters or LiveParameters()
    design = JudgeDesign.from_json(round.summary.get("judge"))
    if design.judge == "all":
        raise CounterpartError(
            f"Round {round} asks all pairs, so its queries have no random order and it has no looks. Once it is "
            "finished, use `estimate`."
        )
    half_judged = _half_judged(round) if round.state == "open" else []
    directions: list[LiveDirection] = []
    wholes = list(whole_queries(round, merge=parameters.merge, progress=progress))
    for whole in wholes:
        unfinished = {pair[_query_place(whole.direction)] for pair in half_judged}
        directions.append(_Audit(round, whole, unfinished, parameters).looked_at(progress))
    saving = saving_now(round) if round.state == "open" else None
    likely = None
    if design.greedy or any(one.last and whole.opened.any() for whole, one in zip(wholes, directions, strict=True)):
        counting = [whole.first(one.counting) for whole, one in zip(wholes, directions, strict=True)]
        likely = LikelyMatches.of(counting, stop_recall=design.stop_recall)
    return LiveEstimates(round, parameters, tuple(directions), saving, likely)


def _half_judged(round: Round) -> list[tuple[str, str]]:
    """Return the pairs (keys of image and caption) that have a verdict and wait for a vote, which may change it."""
    judged = votes_in(round).finished().values_list("image_id", "caption_id", "image__key", "caption__key").distinct()
    waiting = waiting_pairs(round)
    return [(image_key, caption_key) for *pair, image_key, caption_key in judged if tuple(pair) in waiting]


def _query_place(direction: str) -> int:
    """Return the place of the query in a pair of image and caption."""
    return 0 if direction == Direction.IMAGE_TO_CAPTION else 1


@dataclass(frozen=True)
class _Audit:
    """One direction of the audit; votes are still wanted on queries that are ``unfinished``."""

    round: Round
    whole: WholeQueries
    unfinished: set[str]
    parameters: LiveParameters

    def looked_at(self, progress: Progress) -> LiveDirection:
        in_time = np.array([key not in self.unfinished for key in self.whole.queries.keys], bool)
        counting, waiting = arrived((self.whole.audited & in_time)[self.order])
        units = len(self.order)
        planned = look_sizes(units, self.parameters.looks, least=FEWEST, whole=ceil)
        reached = [size for size in planned if size <= counting]
        steps = tracked(list(enumerate(reached, 1)), "looks", progress, every=1)
        looks = tuple(self._look(number, size) for number, size in steps)
        return LiveDirection(units, counting, waiting, looks, Direction(self.whole.direction), planned)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """(n,) rows of the drawn queries, in the order of the audit."""
        rows = np.flatnonzero(self.whole.drawn)
        return rows[np.argsort(self.whole.place[rows], kind="stable")]

    @cached_property
    def times(self) -> dict[str, datetime]:
        """When the last counted answer on the pairs of a query was submitted, by its key."""
        key = ("image__key", "caption__key")[_query_place(self.whole.direction)]
        # A look waits for no answer on a caption's own image, which is known to match.
        needed = votes_in(self.round).finished().exclude(image=F("caption__image"))
        return dict(needed.values_list(key).annotate(at=Max("assignment__submitted_at")))

    def _look(self, number: int, size: int) -> LiveLook:
        keys = [self.whole.queries.keys[row] for row in self.order[:size].tolist()]
        at = max((self.times[key] for key in keys if self.times.get(key)), default=None)
        first = self.whole.first(size)
        parameters = self.parameters.of_a_look
        found = scores_of(first, parameters)
        widths = tuple(interval_widths(first, found.models, len(self.order), parameters.level))
        spent = _spent(self.round, at)
        return LiveLook(number, size, size / len(self.order), at, *spent, found.models, found.differences, widths)


def _spent(round: Round, at: datetime | None) -> tuple[int, int, Decimal]:
    """Return HITs, answer sets and US dollars of the work that was submitted until then."""
    if at is None:
        return 0, 0, Decimal("0.00")
    accepted = Assignment.objects.filter(
        hit__round=round, state=Assignment.State.ACCEPTED, seat__isnull=False, submitted_at__lte=at
    ).aggregate(sets=Count("pk"), hits=Count("hit", distinct=True))
    earned = Payment.objects.filter(round=round, state__in=Payment.EARNED, assignment__submitted_at__lte=at)
    dollars = earned.aggregate(sum=Sum(F("amount") + F("fee")))["sum"] or Decimal(0)
    return accepted["hits"], accepted["sets"], cents(dollars)
