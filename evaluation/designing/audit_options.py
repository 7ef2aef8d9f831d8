"""The expected cost and width of audits, from a round that was judged or from priors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Annotated, Any

from django import forms

from annotation.money.wages import HOUR, pilot_of, slow_seconds, timing_of
from core.errors import CounterpartError
from core.parameters import Option, Parameters, choices
from evaluation.designing.plan_basis import PlanBasis, Prior, Widths
from evaluation.estimation import METRICS, front
from hits.models import Round
from hits.prices import cents
from hits.round_parameters import DollarField

SHARES, SPREADS = (0.1, 0.2, 0.3, 0.5), (1, 4)
GRID_SHARES, GRID_SPREADS = tuple(number / 20 for number in range(1, 20)), (1, 2, 4, 10)


@dataclass(frozen=True, kw_only=True)
class AuditOptions(Parameters):
    """Which designs are compared, what is wished of them, and what is stated where nothing was judged."""

    metric: Annotated[
        str,
        forms.ChoiceField(choices=choices(*METRICS), help_text="metric whose intervals are shown and compared"),
    ] = METRICS[0]
    width: Annotated[
        float | None,
        forms.FloatField(
            required=False,
            min_value=0.001,
            max_value=1,
            help_text="wished width of the widest interval: also name the cheapest design that reaches it",
        ),
        Option(metavar="W"),
    ] = None
    merge: Annotated[str, "match sources that count without a judgment, as release merges them"] = "original"
    grid: Annotated[bool, "compare a fine grid of designs in place of a few"] = False
    reward: Annotated[
        Decimal | None,
        DollarField(max_digits=8, required=False, help_text="US dollars for one assignment (default: the round's)"),
    ] = None
    match_rate: Annotated[
        float,
        forms.FloatField(
            min_value=0.01,
            max_value=0.95,
            help_text="without judgments: expected share of the pool's pairs that match; 0.21 to 0.30 in ECCV Caption",
        ),
        Option(metavar="SHARE"),
    ] = 0.2
    rank_effect: Annotated[
        float,
        forms.FloatField(
            min_value=0,
            max_value=3,
            help_text="without judgments: how far annotators can tell; the odds of a match are as the annotators that "
            "propose it by its best rank, to this power. 0: not at all; 0.3 to 1.0 were measured",
        ),
        Option(metavar="POWER"),
    ] = 0.5

    @property
    def prior(self) -> Prior:
        return Prior(self.match_rate, self.rank_effect)


@dataclass(frozen=True)
class Terms:
    """What a HIT asks, pays and takes: ``cost`` in US dollars of all its answer sets, with fees.

    ``source`` says by what the ``seconds`` of one answer set are known.
    """

    candidates: int
    replication: int
    reward: Decimal
    cost: Decimal
    seconds: float
    source: str

    @property
    def wage(self) -> Decimal:
        """US dollars an hour."""
        return cents(self.reward * HOUR / Decimal(str(self.seconds)))


def terms_of(round: Round, reward: Decimal | None = None) -> Terms:
    """Return the terms of a round, which need not be stored, with another reward if one is given."""
    paid = round.reward if reward is None else reward
    seconds, source = _time_of(round)
    cost = round.fee_schedule.cost(paid) * round.replication
    return Terms(round.design["candidates"], round.replication, paid, cost, seconds, source)


def _time_of(round: Round) -> tuple[float, str]:
    """Return the seconds of one answer set, as people needed them in the round if it has any, and by what they are
    known."""
    timing = timing_of(round) if round.pk else None
    if timing and not timing.simulated:
        return timing.active, f"as measured in round {round}"
    if round.expected_seconds:
        return round.expected_seconds, "as expected of the round"
    if measured := pilot_of(round):
        return measured[1].active, f"as measured in round {measured[0]}"
    return slow_seconds(round), "as slow workers usually take"


@dataclass(frozen=True)
class Design:
    """A design for all directions of a pool together.

    Attributes:
        share, spread: of the judgments and of the queries of a round that asks all pairs of the pilot's queries.
        matches: that would be found, of each query in each direction.
        widths: by direction and metric, of the widest interval of any model.
    """

    design: str
    share: float
    spread: float
    hits: int
    cost: Decimal
    hours: float
    matches: float
    widths: Widths

    def widest(self, metric: str) -> float:
        return max(width for (_, name), width in self.widths.items() if name == metric)

    @property
    def audit_share(self) -> float:
        """The share of the queries that are judged whole."""
        return self.share / self.spread

    def row(self) -> dict[str, Any]:
        """Return what ``plan`` prints."""
        return {
            "design": self.design,
            "share": self.share,
            "spread": self.spread,
            "hits": self.hits,
            "cost": self.cost,
            "hours": round(self.hours, 1),
            "matches": round(self.matches),
            "widths": {f"{side} {metric}": width for (side, metric), width in self.widths.items()},
        }


@dataclass(frozen=True)
class FirstHits:
    """A round of the first hits alone, which gives R@1 of the pool's annotators as a round of all pairs does."""

    pairs: int
    hits: int
    cost: Decimal
    hours: float


def audit_options(basis: PlanBasis, terms: Terms, *, grid: bool = False) -> list[Design]:
    """Return a round of all pairs and audits of its queries, or of more of the same kind."""
    shares, spreads = (GRID_SHARES, GRID_SPREADS) if grid else (SHARES, SPREADS)
    return list(_designs(basis, terms, shares, spreads))


def _designs(basis: PlanBasis, terms: Terms, shares: Sequence[float], spreads: Sequence[float]) -> Iterator[Design]:
    yield design_of(basis, terms, 1.0, 1.0)
    for spread in spreads:
        for share in shares:
            yield design_of(basis, terms, share, spread)


def design_of(basis: PlanBasis, terms: Terms, share: float, spread: float) -> Design:
    """Return one design: all pairs for a share of 1 of the same queries, otherwise an audit."""
    name = "all" if share == spread == 1 else "audit"
    hits, cost, hours = _work(basis.pairs.asked(share, spread), terms)
    matches = share * sum(side.outlook.matches.value for side in basis.sides.values())
    return Design(name, share, spread, hits, cost, hours, matches, basis.widths(share, spread))


def first_hits_of(basis: PlanBasis, terms: Terms) -> FirstHits:
    return FirstHits(basis.pairs.first_hits, *_work(basis.pairs.first_hits, terms))


def _work(pairs: float, terms: Terms) -> tuple[int, Decimal, float]:
    """Return HITs, their cost and their hours."""
    hits = ceil(round(pairs / terms.candidates, 9))
    return hits, hits * terms.cost, hits * terms.seconds * terms.replication / HOUR


def front_of(designs: Sequence[Design], metric: str) -> list[Design]:
    """Return the designs that no other beats by cost and by width to three decimals, the cheapest first; of equal ones
    the first."""
    places = {(one.cost, round(one.widest(metric), 3)): one for one in reversed(designs)}
    best = front([float(cost) for cost, _ in places], [width for _, width in places])
    return sorted(
        (one for one, is_best in zip(places.values(), best, strict=True) if is_best), key=lambda one: one.cost
    )


def cheapest_of(designs: Sequence[Design], metric: str, width: float) -> Design:
    """Return the cheapest design whose intervals are all at most so wide. Raises CounterpartError without one."""
    narrow = [one for one in designs if one.widest(metric) <= width]
    if not narrow:
        least = min(one.widest(metric) for one in designs)
        raise CounterpartError(
            f"No design of the grid reaches a width of {width:g}; the least is {least:.3f}. Wish for a wider interval; "
            "--grid compares more designs."
        )
    return min(narrow, key=lambda one: one.cost)
