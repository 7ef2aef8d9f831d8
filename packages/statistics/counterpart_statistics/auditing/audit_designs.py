"""Designs of a round for all directions of a pool together: their work, cost and width of intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any

from counterpart_statistics.auditing.plan_basis import PlanBasis, Widths
from counterpart_statistics.estimation import front
from counterpart_statistics.estimation.intervals import Question


@dataclass(frozen=True, kw_only=True)
class HitTerms:
    """What a HIT asks, costs and takes: ``cost`` in US dollars of all its answer sets, with fees; ``seconds`` of one of
    them."""

    candidates: int
    replication: int
    cost: Decimal
    seconds: float


@dataclass(frozen=True)
class AuditDesign:
    """A design for all directions of a pool together.

    Attributes:
        share, spread: of the judgments and of the queries of a round that asks all pairs of the pilot's queries.
        matches: that would be found, one of two queries once.
        widths: by direction and metric, of the widest 95% interval of any model; 0 where all is judged, and counted.
        question: of the widths.
    """

    design: str
    share: float
    spread: float
    hits: int
    cost: Decimal
    hours: float
    matches: float
    widths: Widths
    question: Question

    def widest(self, metric: str) -> float:
        return max(width for (_, name), width in self.widths.items() if name == metric)

    @property
    def match_cost(self) -> float | None:
        """US dollars a match; None without matches."""
        return float(self.cost) / self.matches if self.matches else None

    @property
    def audit_share(self) -> float:
        """The share of the queries that are judged whole."""
        return self.share / self.spread

    def row(self) -> dict[str, Any]:
        """Return it as a table has it."""
        return {
            "design": self.design,
            "share": self.share,
            "spread": self.spread,
            "hits": self.hits,
            "cost": self.cost,
            "hours": round(self.hours, 1),
            "matches": round(self.matches),
            "match_cost": self.match_cost and round(self.match_cost, 4),
            "question": self.question,
            "level": 0.95,
            "widths": {f"{side} {metric}": width for (side, metric), width in self.widths.items()},
        }


@dataclass(frozen=True)
class FirstHits:
    """A round of the first hits alone, which gives R@1 of the pool's annotators as a round of all pairs does."""

    pairs: int
    hits: int
    cost: Decimal
    hours: float


def design_of(
    basis: PlanBasis, terms: HitTerms, share: float, spread: float, question: Question = "these"
) -> AuditDesign:
    """Return one design: all pairs for a share of 1 of the same queries, otherwise an audit."""
    name = "all" if share == spread == 1 else "audit"
    hits, cost, hours = work_of(basis.pairs.asked(share, spread), terms)
    matches = basis.matches.asked(share, spread)
    return AuditDesign(name, share, spread, hits, cost, hours, matches, basis.widths(share, spread, question), question)


def work_of(pairs: float, terms: HitTerms) -> tuple[int, Decimal, float]:
    """Return HITs, their cost and their hours."""
    hits = ceil(round(pairs / terms.candidates, 9))
    return hits, hits * terms.cost, hits * terms.seconds * terms.replication / 3600


def front_of(designs: Sequence[AuditDesign], metric: str) -> list[AuditDesign]:
    """Return the designs that no other beats by cost and by width to three decimals, the cheapest first; of equal ones
    the first."""
    places = {(one.cost, round(one.widest(metric), 3)): one for one in reversed(designs)}
    best = front([float(cost) for cost, _ in places], [width for _, width in places])
    return sorted(
        (one for one, is_best in zip(places.values(), best, strict=True) if is_best), key=lambda one: one.cost
    )
