"""Which designs of audits are compared, and what a HIT of them asks, pays and takes."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from django import forms

from annotation.money.wages import pilot_of, timing_of
from core.parameters import Option, Parameters, choices
from counterpart_statistics.auditing.audit_designs import HitTerms
from counterpart_statistics.auditing.plan_basis import Prior
from counterpart_statistics.estimation import METRICS
from evaluation.auditing.round_estimates import QueriesOption
from hits.models import Round
from hits.prices import cents
from hits.rounds.round_parameters import DollarField
from hits.task_types import task_type_of


class AuditOptions(Parameters):
    """Which designs are compared, what they should reach, and what is stated where nothing was judged."""

    metric: Annotated[
        str,
        forms.ChoiceField(choices=choices(*METRICS), help_text="metric whose intervals are shown and compared"),
    ] = METRICS[0]
    queries: QueriesOption = "these"
    width: Annotated[
        float | None,
        forms.FloatField(
            required=False,
            min_value=0.001,
            max_value=1,
            help_text="target width of the widest interval: also name the cheapest design that reaches it",
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
            help_text="without judgments: how well annotators find matches; the odds of a match are as the annotators "
            "that propose it by its best rank, to this power. 0: not at all; 0.3 to 1.0 were measured",
        ),
        Option(metavar="POWER"),
    ] = 0.5

    @property
    def prior(self) -> Prior:
        return Prior(self.match_rate, self.rank_effect)


@dataclass(frozen=True, kw_only=True)
class Terms(HitTerms):
    """What a HIT asks, pays and takes; ``source`` says by what the ``seconds`` of one answer set are known."""

    reward: Decimal
    source: str

    @property
    def wage(self) -> Decimal:
        """US dollars an hour."""
        return cents(self.reward * 3600 / Decimal(str(self.seconds)))


def terms_of(round: Round, reward: Decimal | None = None) -> Terms:
    """Return the terms of a round, which need not be stored, with another reward if one is given."""
    paid = round.reward if reward is None else reward
    seconds, source = _time_of(round)
    cost = round.fee_schedule.cost(paid) * round.replication
    return Terms(
        candidates=round.design["candidates"],
        replication=round.replication,
        cost=cost,
        seconds=seconds,
        reward=paid,
        source=source,
    )


def _time_of(round: Round) -> tuple[float, str]:
    """Return the seconds of one answer set, measured in the round if it has any, and where they come from."""
    timing = timing_of(round) if round.pk else None
    if timing and not timing.simulated:
        return timing.active, f"as measured in round {round}"
    if round.expected_seconds:
        return round.expected_seconds, "as expected of the round"
    if measured := pilot_of(round):
        return measured[1].active, f"as measured in round {measured[0]}"
    return task_type_of(round).usual_seconds, "as slow workers usually take"
