"""MTurk's fees as published by AWS."""

from decimal import Decimal

from hits.prices import FeeSchedule

BASE = Decimal("0.20")  # of a reward or bonus
MASTERS = Decimal("0.05")  # of the reward, on top, where only Masters may work
LEAST = Decimal("0.01")


def fee_schedule(*, masters: bool = False) -> FeeSchedule:
    """Return the fees of HITs with up to nine assignments; those with more cost a higher one, so none is posted.

    Rates are added before the fee is rounded. A reward of nothing still costs the least fee.
    """
    return FeeSchedule(reward=BASE + (MASTERS if masters else 0), bonus=BASE, least=LEAST)
