"""What work costs: amounts in whole cents, the platform's fee, the cost of a round."""

from decimal import ROUND_HALF_UP, Decimal

from journal.errors import CounterpartError, some_of

CENT = Decimal("0.01")
FEE_RATES = {"browser": Decimal("0"), "mturk": Decimal("0.20")}  # of the reward, for each assignment


def cents(amount: Decimal) -> Decimal:
    """Round US dollars to whole cents, half a cent upwards."""
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def fee(reward: Decimal, channel: str) -> Decimal:
    """Return what the channel's platform takes for one assignment, in US dollars on top of ``reward``.

    Raises CounterpartError for a channel without a known fee.
    """
    if channel not in FEE_RATES:
        raise CounterpartError(f"No fee is known for the channel {channel!r}; choose one of {some_of([*FEE_RATES])}.")
    return cents(reward * FEE_RATES[channel])


def round_cost(reward: Decimal, *, assignments: int, channel: str) -> Decimal:
    """Return the cost in US dollars of ``assignments`` answer sets, fees included."""
    return (cents(reward) + fee(reward, channel)) * assignments
