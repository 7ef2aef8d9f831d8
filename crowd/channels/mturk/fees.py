"""What MTurk takes: its fee schedule as published by AWS, to the cent."""

from decimal import ROUND_HALF_UP, Decimal

BASE = Decimal("0.20")  # of a reward or bonus
LARGE = Decimal("0.20")  # of the reward, on top, where a HIT asks for ten assignments or more
MASTERS = Decimal("0.05")  # of the reward, on top, where only Masters may work
LEAST = Decimal("0.01")


def assignment_fee(reward: Decimal, *, assignments: int = 1, masters: bool = False) -> Decimal:
    """Return the fee on one assignment in US dollars: rates are added, then rounded once, half a cent upwards.

    ``assignments`` is what the whole HIT asks for. A reward of nothing still costs the least fee.
    """
    rate = BASE + (LARGE if assignments >= 10 else 0) + (MASTERS if masters else 0)
    return _rounded(reward * rate)


def bonus_fee(amount: Decimal) -> Decimal:
    """Return the fee on one bonus in US dollars."""
    return _rounded(amount * BASE)


def _rounded(fee: Decimal) -> Decimal:
    return max(fee.quantize(LEAST, rounding=ROUND_HALF_UP), LEAST)
