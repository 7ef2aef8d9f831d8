"""What publishing a round somewhere costs, to the cent, before anybody is asked for money."""

from dataclasses import dataclass
from decimal import Decimal

from annotation.amounts import cents, seat_cost
from hits.models import Round, Seat


@dataclass(frozen=True)
class Quote:
    """US dollars for ``seats`` answer sets, if every one is paid once: each one's ``reward`` and the platform's
    ``fee`` on top."""

    seats: int
    reward: Decimal
    fee: Decimal

    @property
    def rewards(self) -> Decimal:
        return self.reward * self.seats

    @property
    def fees(self) -> Decimal:
        return self.fee * self.seats

    @property
    def total(self) -> Decimal:
        return self.rewards + self.fees


def quote(round: Round, channel: str) -> Quote:
    """Return what all seats of the round cost on ``channel`` with the offer that the round has."""
    reward = cents(round.reward)
    return Quote(Seat.objects.filter(hit__round=round).count(), reward, seat_cost(round, channel) - reward)
