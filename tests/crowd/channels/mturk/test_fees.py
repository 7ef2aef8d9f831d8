"""AWS's schedule, to the cent: what we estimate is what the emulator debits."""

from dataclasses import replace
from decimal import Decimal

import pytest

from counterpart_emulators.mturk.balance import BASE_RATE, MASTERS_RATE, rounded_fee
from crowd.channels.mturk.payments import fee_schedule
from crowd.offers import offer_of
from crowd.posting.publication import quote, set_terms
from tests.factories import make_round


def test_every_reward_up_to_five_dollars_is_estimated_as_the_emulator_debits_it():
    for reward in (Decimal(cents) / 100 for cents in range(1, 501)):
        for picked in (0, 1):
            schedule = fee_schedule(masters=bool(picked))
            assert schedule.reward_fee(reward) == rounded_fee(reward, BASE_RATE + MASTERS_RATE * picked)
        assert schedule.bonus_fee(reward) == rounded_fee(reward, BASE_RATE)


@pytest.mark.parametrize(("masters", "cost"), [(False, "1.68"), (True, "1.75")])
def test_a_rounds_price_has_the_fee_of_what_it_demands(db, masters, cost):
    made = make_round(reward="1.40", published=False)
    set_terms(made, channel="mturk", environment="emulator", offer=replace(offer_of(made), top_workers=masters))
    assert (str(quote(made, "mturk").total), str(quote(made, "browser").total)) == (cost, "1.40")
    assert str(made.seat_cost) == cost
