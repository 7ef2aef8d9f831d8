"""What a round pays and may cost."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from django import forms

from core.errors import CounterpartError
from core.parameters import FlagField, Parameters
from hits.prices import SCHEDULES, cents


class DollarField(forms.DecimalField):
    """US dollars from 0, in whole cents."""

    metavar = "DOLLARS"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=Decimal(0), decimal_places=2, **kwargs)

    def clean(self, value: Any) -> Decimal:
        return cents(super().clean(value))


@dataclass(frozen=True, kw_only=True)
class Terms(Parameters):
    """What is asked of workers for which reward, and what the round may cost."""

    reward: Annotated[Decimal, DollarField(max_digits=8, help_text="US dollars for one assignment")] = Decimal("0.65")
    ceiling: Annotated[
        Decimal, DollarField(max_digits=12, help_text="maximum cost of the round in US dollars, fees included")
    ] = Decimal(500)
    replication: Annotated[
        int, forms.IntegerField(min_value=1, max_value=99, help_text="answer sets wanted for each HIT")
    ] = 1
    reasons: Annotated[bool, FlagField(help_text="ask for reasons at levels 2 and 3")] = False

    def costs(self, hits: int) -> dict[str, dict[str, str]]:
        """What ``hits`` HITs cost on each channel in US dollars: reward and fee of an assignment, total."""
        return {
            channel: {
                "reward": str(cents(self.reward)),
                "fee": str(schedule.reward_fee(self.reward)),
                "total": str(schedule.cost(self.reward, assignments=hits * self.replication)),
            }
            for channel, schedule in SCHEDULES.items()
        }

    def check_ceiling(self, hits: int) -> None:
        """Raise CounterpartError if not even the cheapest channel keeps ``hits`` HITs under the ceiling.
        Publishing checks again with the fee of the channel chosen."""
        total = min(Decimal(cost["total"]) for cost in self.costs(hits).values())
        if total > self.ceiling:
            raise CounterpartError(
                f"{hits * self.replication:,} assignments at ${cents(self.reward)} cost ${total:,}, above the ceiling "
                f"of ${cents(self.ceiling):,}. Raise --ceiling, or lower --reward or --replication."
            )
