"""The time and pay that workers of the browser pool read, for a round that is planned, packed or about to open."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from annotation.judging.sheet import terms_of
from annotation.money.wages import Timing, pilot_of
from core.errors import CounterpartError
from hits.models import Round
from hits.prices import fair_reward
from hits.rounds.round_parameters import PackParameters
from hits.task_types import task_type_of


@dataclass(frozen=True)
class WageTerms:
    """``minutes`` and ``hourly`` as workers read them; ``measured``: the earlier round that they were measured in and
    its timing, None where they are only the usual ones; ``fair``: the reward in US dollars that reaches ``floor`` in
    that time."""

    minutes: str
    hourly: str
    measured: tuple[Round, Timing] | None
    reward: Decimal
    fair: Decimal
    floor: Decimal


def wage_terms(round: Round) -> WageTerms:
    """Return the terms of a round that is not published yet."""
    if measured := pilot_of(round):
        round.expected_seconds = int(measured[1].active)
    terms = terms_of(round)
    fair = fair_reward(round.expected_seconds or task_type_of(round).usual_seconds, round.wage_floor)
    return WageTerms(terms["minutes"], terms["hourly"], measured, round.reward, fair, round.wage_floor)


def wage_terms_of_plan(parameters: PackParameters) -> WageTerms:
    """Return the terms of a round that these parameters would make."""
    design = parameters.composition.as_json()
    return wage_terms(Round(task=parameters.task, design=design, reward=parameters.pay, reasons=parameters.reasons))


def fair_reward_suggested(values: Mapping[str, Any]) -> Decimal:
    """Return the reward in US dollars that reaches the wage floor, for a form's first ``values``; for the defaults
    where they are invalid."""
    with suppress(CounterpartError):
        chosen = {name: values[name] for name in ("task", "positives") if name in values}
        return wage_terms_of_plan(PackParameters(**chosen, reasons=bool(values.get("reasons")))).fair
    return wage_terms_of_plan(PackParameters()).fair
