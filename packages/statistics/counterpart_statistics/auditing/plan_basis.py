"""The basis of plans of audits: the judgments of a round, or labels of a pool that are simulated from priors."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import ceil
from typing import Any, Self, get_args

import numpy as np

from counterpart_statistics.auditing.model_scores import model_estimates
from counterpart_statistics.estimation import (
    METRICS,
    Outlook,
    Pilot,
    Recall,
    audit_order,
    match_curve,
    outlook_of,
    prior_probability,
    round_recall,
    simulated_gains,
)
from counterpart_statistics.estimation.intervals import Question
from counterpart_statistics.selection.drawn_votes import matches_in
from counterpart_statistics.selection.likely_matches import sides_of
from counterpart_statistics.selection.pooled_queries import PooledQueries, WholeQueries

PILOT_SHARE = 0.05
PILOT_QUERIES = 60
"""The least number of queries of a pilot that priors draw."""
POINTS = 21
"""Points of the curve of matches that are kept."""
Widths = Mapping[tuple[str, str], float]
"""The width of the widest interval of any model, by direction and metric."""


@dataclass(frozen=True)
class Prior:
    """What is assumed of a pool without judgments: the arguments of ``prior_probability``."""

    match_rate: float
    rank_effect: float

    def __str__(self) -> str:
        return (
            f"priors, not judgments: {self.match_rate:.0%} of the pairs match, with odds by annotators and best rank "
            f"to the power of {self.rank_effect:g}"
        )


@dataclass(frozen=True)
class DirectionBasis:
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
class PairCounts:
    """Number of pairs of all directions, each once, and of those of two queries."""

    distinct: float
    of_both: float

    def asked(self, share: float, spread: float) -> float:
        """Return how many of them an audit asks: one of two audited queries once."""
        return share * (self.distinct + self.of_both) - self.of_both * share**2 / spread


@dataclass(frozen=True)
class AuditFigures:
    """Results of the round's judgments: matches of its audited queries, each counted once, the number of drawn queries
    that still miss judgments, and the widths of each question."""

    matches: int
    missing: int
    widths: Mapping[Question, Widths]


@dataclass(frozen=True)
class PlanBasis:
    """What is known of all directions of a pool: its ``pairs``, the number that an annotator ranks first, and the
    ``matches`` to expect among them, each once, with the interval of a round of all pairs; ``prior`` and ``measured``:
    the one that it is known by."""

    source: str
    sides: Mapping[str, DirectionBasis]
    pairs: PairCounts
    first_hits: int
    matches: PairCounts
    interval: Recall
    prior: Prior | None = None
    measured: AuditFigures | None = None

    def __str__(self) -> str:
        return str(self.prior) if self.prior else f"the judgments of {self.source}"

    @property
    def queries(self) -> int:
        return sum(side.outlook.queries for side in self.sides.values())

    def widths(self, share: float, spread: float, question: Question) -> Widths:
        """Return the widths of an audit with this share of the judgments on ``spread`` times the queries."""
        found = {name: side.outlook.audit_widths(share, spread, question) for name, side in self.sides.items()}
        return {
            (name, metric): float(widths[number].max())
            for name, widths in found.items()
            for number, metric in enumerate(METRICS)
        }

    def as_json(self) -> str:
        stored = asdict(self)
        if self.measured:
            for question, widths in self.measured.widths.items():
                stored["measured"]["widths"][question] = [[*key, width] for key, width in widths.items()]
        return json.dumps(stored, default=np.ndarray.tolist)

    @classmethod
    def from_json(cls, text: str) -> Self:
        stored = json.loads(text)
        measured = stored["measured"]
        if measured:
            measured["widths"] = {
                question: {(side, metric): width for side, metric, width in widths}
                for question, widths in measured["widths"].items()
            }
        return cls(
            stored["source"],
            {name: _side_of(side) for name, side in stored["sides"].items()},
            PairCounts(**stored["pairs"]),
            stored["first_hits"],
            PairCounts(**stored["matches"]),
            Recall(**stored["interval"]),
            Prior(**stored["prior"]) if stored["prior"] else None,
            AuditFigures(**measured) if measured else None,
        )


def _side_of(stored: dict[str, Any]) -> DirectionBasis:
    one = stored["outlook"]
    arrays = (np.array(one[name]) for name in ("values", "off", "around", "unseen"))
    outlook = Outlook(one["queries"], one["pairs"], *arrays)
    return DirectionBasis(
        stored["yes"], outlook, tuple((share, found) for share, found in stored["curve"]), stored["no_curve"]
    )


def simulated(
    name: str, direction: str, queries: PooledQueries, prior: Prior, *, top: int, seed: int, stream: int
) -> WholeQueries:
    """Return the queries of one direction of a pool of the ``top`` items of each list, with labels that the prior
    draws, a random twentieth of the queries as the pilot."""
    annotators = len(queries.scores)
    p = prior_probability(
        queries.ranks[:annotators], queries.asked, top=top, rate=prior.match_rate, rank_effect=prior.rank_effect
    )
    gains = simulated_gains(p, queries.known, seed=stream)
    levels = np.select([gains == 1, gains > 0], [1.0, 2.0], 4.0)
    n = len(queries.keys)
    place = np.full(n, -1)
    order = audit_order(queries.keys, [seed, stream]).order[: max(PILOT_QUERIES, ceil(PILOT_SHARE * n))]
    place[order] = np.arange(len(order))
    asked_of = frozenset(queries.models[:annotators])
    nothing = np.zeros(gains.shape, bool)
    return WholeQueries(name, direction, seed, replace(queries, levels=levels), place, asked_of, nothing)


def side_of(whole: WholeQueries) -> DirectionBasis:
    pilot = _pilot(whole)
    queries = len(whole.queries.keys)
    curve = list[tuple[float, float]]()
    no_curve = ""
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
    return DirectionBasis(int(pilot.matches.sum()), outlook_of(pilot, queries), tuple(curve), no_curve)


def _pilot(whole: WholeQueries) -> Pilot:
    """Return the audited queries as a pilot of all pairs."""
    audited = whole.audited
    asked = whole.queries.asked
    probabilities, proxy = whole.expectations
    return Pilot(
        whole.metrics[:, :, audited],
        proxy[:, :, audited],
        matches=whole.matches[audited].sum(axis=1).astype(float),
        expected=probabilities[audited].sum(axis=1),
        pairs=asked[audited].sum(axis=1).astype(float),
        rest=probabilities[~audited][asked[~audited]],
    )


def matches_of(wholes: Sequence[WholeQueries]) -> tuple[PairCounts, Recall]:
    """Return the matches to expect, with those of pairs of two queries, and their interval."""
    interval = round_recall([*sides_of(wholes)], len(matches_in(wholes)))
    of_both = round_recall([*sides_of(wholes, of_both=True)], 0)
    return PairCounts(interval.matches, of_both.matches), interval


def measured_of(wholes: Sequence[WholeQueries]) -> AuditFigures:
    widths: dict[Question, dict[tuple[str, str], float]] = {question: {} for question in get_args(Question)}
    for question, whole in product(widths, wholes):
        for one in model_estimates(whole, METRICS, queries=question):
            key = str(one.direction), one.metric
            widths[question][key] = max(widths[question].get(key, 0.0), one.estimate.high - one.estimate.low)
    found = [whole.queries.codes[whole.matches & whole.audited[:, None]] for whole in wholes]
    return AuditFigures(
        matches=len(np.unique(np.concatenate(found))),
        missing=sum(int((whole.drawn & ~whole.audited).sum()) for whole in wholes),
        widths=widths,
    )
