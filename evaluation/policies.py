"""Policies of an evaluation: the order of items with equal scores, and what lists that end early are worth."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from corpus.models import Collection
from evaluation.metrics import (
    METRICS,
    Metric,
    Qrels,
    Rankings,
    by_score,
    check_depth,
    find,
    open_interval,
    tie_interval,
)
from evaluation.models import Run
from evaluation.runs import read_run
from evaluation.scoring import SCORED, Scored, Values, scored_from
from mitl.models import Direction

Ties = Literal["file", "counterpart", "trec", "interval"]
Missing = Literal["wrong", "interval", "refuse"]
TIES: tuple[Ties, ...] = get_args(Ties)
MISSING: tuple[Missing, ...] = get_args(Missing)
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Policies:
    """How rankings are read where they leave something open.

    Attributes:
        ties: equal scores keep the ``file``'s order; the item imported first comes first (``counterpart``); trec_eval's
            order (``trec``): the larger id as text comes first; or all orders count (``interval``).
        missing: ranks beyond the end of a list are ``wrong``; the list may go on in any way (``interval``); or a list
            that is shorter than the query's number of matches is refused (``refuse``).
    """

    ties: Ties = "file"
    missing: Missing = "wrong"

    def __post_init__(self) -> None:
        if self.ties == "interval" and self.missing == "interval":
            raise CounterpartError("An interval is of ties or of missing ranks. Choose interval for one of them.")

    @property
    def are_default(self) -> bool:
        return self == Policies()

    def bounds(self, metric: Metric, rankings: Rankings, qrels: Qrels) -> tuple[Values, Values]:
        """Return the smallest and largest value of a metric, (Q,) each; equal where no policy is ``interval``.

        Raises ValueError as the functions of ``evaluation.metrics`` do.
        """
        if self.ties == "interval":
            return tie_interval(metric, rankings, qrels)
        found = find(rankings if self.ties == "file" else by_score(rankings, self.ties), qrels)
        if self.missing == "interval":
            return open_interval(metric, found)
        if self.missing == "refuse":
            check_depth(found)
        values = metric(found)
        return values, values


def scored_under(policies: Policies, run: Run, qrels: Mapping[Direction, Qrels]) -> list[Scored]:
    """Score a run that covers the queries; under a policy of intervals, once at the lowest and once at the highest.

    Nothing is stored. Raises CounterpartError for rankings without scores under another order of ties, and for lists
    that are too short and refused.
    """
    low, high = ({direction: _nowhere(one) for direction, one in qrels.items()} for _ in range(2))
    ranked: set[Direction] = set()
    numbers = _by_text(run.collection) if policies.ties == "trec" else None
    for direction, rankings in read_run(run):
        mine = np.isin(qrels[direction].queries, rankings.queries)
        part = qrels[direction].of_queries(mine)
        if numbers is not None:
            rankings, part = _renamed(rankings, part, *numbers[direction])
        try:
            for metric in SCORED:
                lowest, highest = policies.bounds(METRICS[metric], rankings, part)
                low[direction][metric][mine], high[direction][metric][mine] = lowest, highest
        except ValueError as error:
            raise CounterpartError(f"{run}, {direction.label}: {error}") from error
        ranked.add(direction)
    low, high = ({direction: side[direction] for direction in Direction if direction in ranked} for side in (low, high))
    if "interval" not in (policies.ties, policies.missing):
        return [scored_from(run.model, low, {})]
    return [scored_from(f"{run} (highest)", high, {}), scored_from(f"{run} (lowest)", low, {})]


def _nowhere(qrels: Qrels) -> dict[str, Values]:
    return {metric: np.full(len(qrels.queries), np.nan) for metric in SCORED}


def _by_text(collection: Collection) -> dict[Direction, tuple[Ids, Ids]]:
    """Database ids of the items of each direction, ascending, and numbers that sort, as text, like the items' keys."""
    found = []
    for rows in (collection.captions, collection.images):
        keys = sorted(rows.values_list("key", "pk"))
        start = 10 ** len(str(len(keys)))  # all with equally many digits
        ids = np.array([pk for _, pk in keys], np.int64)
        order = np.argsort(ids)
        found.append((ids[order], start + order))
    return dict(zip((Direction.IMAGE_TO_CAPTION, Direction.CAPTION_TO_IMAGE), found, strict=True))


def _renamed(rankings: Rankings, qrels: Qrels, ids: Ids, numbers: Ids) -> tuple[Rankings, Qrels]:
    items = np.where(rankings.items < 0, -1, numbers[np.searchsorted(ids, np.maximum(rankings.items, ids[0]))])
    judged = Qrels.of_pairs(
        qrels.queries[qrels.rows], numbers[np.searchsorted(ids, qrels.items)], qrels.gains, every=qrels.queries
    )
    return Rankings(rankings.queries, items, rankings.scores), judged
