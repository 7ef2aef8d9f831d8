"""What a round offers and may cost, checked before anything is packed."""

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from annotation.amounts import cents, fee, round_cost
from core.errors import CounterpartError
from crowd.channels import CHANNELS

MOST_VOTES = 99
LARGEST = {"reward": Decimal("999999.99"), "ceiling": Decimal("9999999999.99")}  # what the columns hold


@dataclass(frozen=True)
class Terms:
    """US dollars for one assignment, whether reasons are asked, answer sets a HIT, US dollars for all at most.

    Raises CounterpartError for terms that no round can have.
    """

    reward: Decimal = Decimal("0.65")
    reasons: bool = False
    replication: int = 1
    ceiling: Decimal = Decimal("500")

    def __post_init__(self) -> None:
        for name, largest in LARGEST.items():
            amount = getattr(self, name)
            if not amount.is_finite() or not 0 <= amount <= largest or amount != cents(amount):
                raise CounterpartError(f"The {name} {amount} will not do: give 0 to {largest} US dollars in cents.")
        if not 1 <= self.replication <= MOST_VOTES:
            raise CounterpartError(f"A replication of {self.replication} will not do: give 1 to {MOST_VOTES}.")

    def as_fields(self) -> dict[str, Any]:
        """The columns of a round that hold them."""
        return {**asdict(self), **{name: cents(getattr(self, name)) for name in LARGEST}}

    def costs(self, hits: int) -> dict[str, dict[str, str]]:
        """What ``hits`` HITs cost on each channel in US dollars: reward and fee of an assignment, total."""
        return {
            channel: {
                "reward": str(cents(self.reward)),
                "fee": str(fee(self.reward, channel)),
                "total": str(round_cost(self.reward, assignments=hits * self.replication, channel=channel)),
            }
            for channel in CHANNELS
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
