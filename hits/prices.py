"""What work costs: amounts in whole cents, and the fees that a channel takes on top."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal
from typing import Self

CENT = Decimal("0.01")
WAGE_FLOOR = Decimal("15.00")
"""The minimum wage of a new round in US dollars an hour."""


def cents(amount: Decimal) -> Decimal:
    """Round US dollars to whole cents, half a cent upwards."""
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def fair_reward(seconds: float, floor: Decimal = WAGE_FLOOR) -> Decimal:
    """Return what ``seconds`` of work must earn at ``floor`` US dollars an hour, in whole cents, rounded up."""
    return (Decimal(str(seconds)) * floor / 3600).quantize(CENT, rounding=ROUND_UP)


@dataclass(frozen=True)
class FeeSchedule:
    """What a channel takes on top of pay: its share of a reward and of a bonus, and at least ``least`` US dollars."""

    reward: Decimal = Decimal("0.00")
    bonus: Decimal = Decimal("0.00")
    least: Decimal = Decimal("0.00")

    def reward_fee(self, reward: Decimal) -> Decimal:
        """Return the fee on one reward in US dollars."""
        return max(cents(cents(reward) * self.reward), self.least)

    def bonus_fee(self, amount: Decimal) -> Decimal:
        """Return the fee on one bonus in US dollars."""
        return max(cents(cents(amount) * self.bonus), self.least)

    def cost(self, reward: Decimal, *, assignments: int = 1) -> Decimal:
        """Return the cost in US dollars of ``assignments`` answer sets, fees included."""
        return (cents(reward) + self.reward_fee(reward)) * assignments

    def as_json(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, str]) -> Self:
        return cls(**{name: Decimal(value) for name, value in data.items()})


SCHEDULES: dict[str, FeeSchedule] = {}
"""The fees of each channel where a round can be published, by name; ``crowd`` adds its channels when it starts."""

Costs = dict[str, dict[str, str]]


def costs_by_channel(reward: Decimal, *, assignments: int) -> Costs:
    """Return the cost of answer sets on each channel, in US dollars: reward and fee of one, and the total."""
    return {
        channel: {
            "reward": str(cents(reward)),
            "fee": str(schedule.reward_fee(reward)),
            "total": str(schedule.cost(reward, assignments=assignments)),
        }
        for channel, schedule in SCHEDULES.items()
    }
