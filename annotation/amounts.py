"""What work costs: amounts in whole cents, the platform's fee, the cost of a round."""

from decimal import ROUND_HALF_UP, Decimal

from hits.models import Round

CENT = Decimal("0.01")


def cents(amount: Decimal) -> Decimal:
    """Round US dollars to whole cents, half a cent upwards."""
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def fee(reward: Decimal, channel: str, *, masters: bool = False) -> Decimal:
    """Return what the channel's platform takes for one assignment, in US dollars on top of ``reward``.

    ``masters``: only workers whom the platform itself has picked may work, for which it may take more.
    Raises CounterpartError for an unknown channel.
    """
    from crowd import channels

    return channels.get(channel).fee(cents(reward), masters=masters)


def bonus_fee(amount: Decimal, channel: str) -> Decimal:
    """Return what the channel's platform takes for a bonus of ``amount``, in US dollars on top of it."""
    from crowd import channels

    return channels.get(channel).fee(cents(amount), bonus=True)


def round_cost(reward: Decimal, *, assignments: int, channel: str, masters: bool = False) -> Decimal:
    """Return the cost in US dollars of ``assignments`` answer sets, fees included."""
    return (cents(reward) + fee(reward, channel, masters=masters)) * assignments


def seat_cost(round: Round, channel: str = "") -> Decimal:
    """Return the cost of one answer set in US dollars with its fee, on ``channel`` or else where it is published."""
    from crowd.offers import offer_of

    masters = offer_of(round).masters
    return round_cost(round.reward, assignments=1, channel=channel or round.channel, masters=masters)
