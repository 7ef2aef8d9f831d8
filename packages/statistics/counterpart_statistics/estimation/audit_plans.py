"""Cost and precision of an audit, from a pilot: judgments, money, hours, matches, and the width of each interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpart_statistics.estimation.intervals import (
    FEWEST,
    PSEUDO_QUERIES,
    UNSEEN,
    UNSEEN_OF_WHOLE,
    Line,
    Question,
    distance,
    score_ends,
)
from counterpart_statistics.estimation.round_recall import Recall, Side, round_recall

FEWEST_YES = 200
"""Matches in the pilot below which no curve of matches is promised (rule P2)."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pilot:
    """Random queries that were judged whole, n of the N that a round of all pairs would judge.

    Attributes:
        metrics: (K, M, n) of the M models.
        proxy: (K, M, n) what was expected of them, from labels of other queries (``expected_metric``).
        matches: (n,) matches found in each query, and ``expected`` (n,) the sum of their probabilities.
        pairs: (n,) pairs judged in each query.
        rest: (R,) probabilities of the pairs of all other queries.
    """

    metrics: Floats
    proxy: Floats
    matches: Floats
    expected: Floats
    pairs: Floats
    rest: Floats

    @property
    def n_queries(self) -> int:
        return self.metrics.shape[2]

    @property
    def all_pairs(self) -> int:
        """Pairs of the round of all pairs."""
        return int(self.pairs.sum()) + len(self.rest)


@dataclass(frozen=True)
class Prices:
    """What a HIT costs, fees and replication included, and the minutes of work it takes."""

    hit: Decimal
    minutes: float


@dataclass(frozen=True)
class Plan:
    """One design and what the pilot lets us expect of it.

    Attributes:
        design: ``all`` or ``audit``.
        share: f, judgments by those of a round of all pairs.
        spread: κ, queries by those of that round; their rankings are free, their judgments are not.
        matches, recall: that are found, and their share of the matches of all the queries' pairs.
        width_by_metric: (K, M) widths of the 95% intervals of the question; 0 where all queries are judged.
        interval: the matches of the round of all pairs.
    """

    design: str
    share: float
    spread: float
    hits: int
    cost: Decimal
    hours: float
    matches: float
    recall: float
    width_by_metric: Floats
    interval: Recall


def expected_matches(pilot: Pilot, queries: int) -> Recall:
    """Return the matches to expect from this many queries of one direction, assisted by the model: Σp + N · mean(y - p)
    (formula 14)."""
    side = Side(pilot.matches - pilot.expected, queries, float(pilot.rest.sum() + pilot.expected.sum()))
    return round_recall([side], int(pilot.matches.sum()))


def match_curve(pilot: Pilot, queries: int) -> Floats:
    """Return (R + 1,): matches after the pilot and 0, 1, … R further judgments in the order of their probabilities,
    scaled to the matches that are expected (formula 11).

    Raises ValueError for a pilot of fewer than 200 matches: its curve was 14 points off where matches are rare.
    """
    found = pilot.matches.sum()
    if found < FEWEST_YES:
        raise ValueError(
            f"The pilot found {found:.0f} matches. A curve of matches needs {FEWEST_YES}: judge more queries first."
        )
    ordered = np.sort(pilot.rest)[::-1]
    scale = (expected_matches(pilot, queries).matches - found) / max(ordered.sum(), 1e-12)
    return np.asarray(found + scale * np.concatenate([[0.0], np.cumsum(ordered)]))


def proxy_quality(pilot: Pilot) -> Floats:
    """Return ρ² (K, M): the squared correlation over queries of a metric with its proxy."""
    metrics = pilot.metrics - pilot.metrics.mean(axis=2, keepdims=True)
    proxy = pilot.proxy - pilot.proxy.mean(axis=2, keepdims=True)
    spread = (metrics**2).sum(axis=2) * (proxy**2).sum(axis=2)
    return np.where(spread > 0, (metrics * proxy).sum(axis=2) ** 2 / np.where(spread > 0, spread, 1), 0.0)


def width_ratio(share: float, spread: float, quality: ArrayLike) -> Floats:
    """Return the width of an audit's interval by that of the round of all pairs, from κ times its queries for f of its
    judgments: √([1 + (κ/f - 1)(1 - ρ²)] / κ) (formula 7).

    >>> float(width_ratio(1, 1, 0.5)), round(float(width_ratio(0.3, 4, 0.757)), 2)
    (1.0, 1.0)
    """
    left = 1 - np.asarray(quality, np.float64)
    return np.asarray(np.sqrt((1 + (spread / share - 1) * left) / spread))


@dataclass(frozen=True)
class Outlook:
    """What a pilot predicts of a round of all pairs of ``queries`` queries, in one direction.

    Attributes:
        pairs: of the pilot and the other queries together.
        values: (K, M) mean metrics of the pilot.
        off: (2, K, M) second and fourth moment over queries of how far a metric is off its line on the proxy.
        around: (2, K, M) the same of how far it is off its mean.
        unseen: (K, M) ε of each metric.
    """

    queries: int
    pairs: int
    values: Floats
    off: Floats
    around: Floats
    unseen: Floats

    def audit_widths(self, share: float, spread: float, question: Question = "these") -> Floats:
        """Return (K, M): widths of the 95% intervals of an audit of κ times the queries for f of the judgments, as
        ``score_interval`` would give them (formula 16)."""
        queries = spread * self.queries
        n = max(round(share * self.queries), FEWEST)
        variance = max(1 / n - 1 / queries, 0.0) * self._squares(self.off, n) / (n - 1)
        if question == "like":
            variance = variance + self._squares(self.around, n) / (n - 1) / queries
        low, high = score_ends(self.values, variance, n, (0.0, 1.0), 0.95)
        return np.asarray(high - low)

    def _squares(self, moments: Floats, n: int) -> Floats:
        """Return the sum of squares of n queries with these moments, pseudo-queries included."""
        second, fourth = n * moments
        largest = distance(self.values, (0.0, 1.0)) ** 2
        informative = (fourth + self.unseen * largest**2) / (second + self.unseen * largest)
        return np.asarray(second + PSEUDO_QUERIES * informative)


def outlook_of(pilot: Pilot, queries: int | None = None) -> Outlook:
    """Return what the pilot predicts of ``queries`` queries (default: as many as have its mean number of pairs).

    Raises ValueError for a pilot of fewer than three queries.
    """
    n = pilot.n_queries
    if n < FEWEST:
        raise ValueError(f"A plan needs a pilot of {FEWEST} queries at least, and should have 60.")
    count = queries or max(round(pilot.all_pairs / pilot.pairs.mean()), n)
    metrics = pilot.metrics
    residuals = Line.through(metrics, pilot.proxy, np.ones(n)).residuals
    around = (metrics - metrics.mean(axis=2, keepdims=True)) * np.sqrt(n / (n - 1))
    off, spread = (np.stack([(one**power).mean(axis=2) for power in (2, 4)]) for one in (residuals, around))
    is_whole = (metrics == np.round(metrics)).all(axis=2)
    unseen = np.where(is_whole, UNSEEN_OF_WHOLE, UNSEEN)
    return Outlook(count, pilot.all_pairs, np.clip(metrics.mean(axis=2), 0, 1), off, spread, unseen)


def plan(
    pilot: Pilot,
    fractions: Sequence[float],
    kappas: Sequence[float],
    hit: int = 16,
    prices: Prices | None = None,
    *,
    queries: int | None = None,
    question: Question = "these",
) -> list[Plan]:
    """Return the round of all pairs, and an audit for each share of its judgments and each spread of queries.

    Args:
        pilot: judged queries; their own judgments are part of every plan.
        fractions: shares f of the judgments, in (0, 1].
        kappas: spreads κ of the queries, at least 1.
        hit: candidates of a HIT.
        prices: of a HIT (default: $0.65 and 5 minutes).
        queries: N (default: as many as have the pilot's mean number of pairs).
        question: of the widths: what judging all queries would say, or queries ``like`` them.

    Raises ValueError for a share or spread outside its range and a pilot of fewer than three queries.
    """
    if any(not 0 < share <= 1 for share in fractions) or any(spread < 1 for spread in kappas):
        raise ValueError("Shares of the judgments are above 0 and at most 1; spreads of the queries are at least 1.")
    outlook = outlook_of(pilot, queries)
    price = prices or Prices(Decimal("0.65"), 5.0)
    designs = [("all", 1.0, 1.0), *(("audit", share, spread) for spread in kappas for share in fractions)]
    matches = expected_matches(pilot, outlook.queries)
    plans = []
    for design, share, spread in designs:
        hits = ceil(share * outlook.pairs / hit)
        money = hits * price.hit
        found = share * matches.matches
        widths = outlook.audit_widths(share, spread, question)
        hours = hits * price.minutes / 60
        plans.append(Plan(design, share, spread, hits, money, hours, found, share / spread, widths, matches))
    return plans


def front(costs: ArrayLike, widths: ArrayLike) -> NDArray[np.bool_]:
    """Return (D,): whether no other design is at most as wide for less, or narrower for at most as much.

    >>> front([1, 2, 2, 3], [0.5, 0.4, 0.3, 0.3]).tolist()
    [True, False, True, False]
    """
    prices = np.asarray(costs, np.float64)
    sizes = np.asarray(widths, np.float64)
    cheaper = prices[:, None] <= prices
    narrower = sizes[:, None] <= sizes
    better = (prices[:, None] < prices) | (sizes[:, None] < sizes)
    return np.asarray(~(cheaper & narrower & better).any(axis=0))
