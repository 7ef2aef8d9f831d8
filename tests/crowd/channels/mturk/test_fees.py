"""AWS's schedule, to the cent: what we estimate is what the emulator debits."""

from decimal import Decimal

import pytest

from annotation.amounts import seat_cost
from crowd.channels.mturk.fees import assignment_fee, bonus_fee
from crowd.offers import Offer
from emulators.mturk.balance import BASE_RATE, MASTERS_RATE, TEN_OR_MORE_RATE, rounded_fee
from hits.models import Round
from tests.factories import make_round


def price(reward, **terms):
    return str(Decimal(reward) + assignment_fee(Decimal(reward), **terms))


@pytest.mark.parametrize(
    ("reward", "base", "masters", "large", "both"),
    [
        ("1.40", "1.68", "1.75", "1.96", "2.03"),
        ("0.65", "0.78", "0.81", "0.91", "0.94"),
    ],
)
def test_the_prices_of_the_papers_rewards(reward, base, masters, large, both):
    prices = [
        price(reward, assignments=assignments, masters=picked) for assignments in (9, 10) for picked in (False, True)
    ]
    assert prices == [base, masters, large, both]


@pytest.mark.parametrize(
    ("terms", "total"), [({"masters": True}, "0.13"), ({"masters": True, "assignments": 10}, "0.15")]
)
def test_rates_are_added_before_they_are_rounded(terms, total):
    assert price("0.10", **terms) == total


@pytest.mark.parametrize(
    ("reward", "terms"),
    [
        ("1.32", {"masters": True}),
        ("1.18", {"assignments": 10}),
        ("1.14", {"masters": True, "assignments": 10}),
    ],
)
def test_the_papers_165_is_the_price_of_other_rewards(reward, terms):
    assert price(reward, **terms) == "1.65"


def test_no_terms_make_140_cost_165():
    prices = {price("1.40", assignments=n, masters=picked) for n in (1, 10) for picked in (False, True)}
    assert "1.65" not in prices


@pytest.mark.parametrize(("amount", "fee"), [("0.01", "0.01"), ("0.05", "0.01"), ("0.13", "0.03"), ("10", "2.00")])
def test_a_bonus_costs_a_fifth_and_at_least_a_cent(amount, fee):
    assert str(bonus_fee(Decimal(amount))) == fee


def test_every_reward_up_to_five_dollars_is_estimated_as_the_emulator_debits_it():
    for reward in (Decimal(cents) / 100 for cents in range(1, 501)):
        for large, picked in ((0, 0), (0, 1), (1, 0), (1, 1)):
            rate = BASE_RATE + TEN_OR_MORE_RATE * large + MASTERS_RATE * picked
            assert assignment_fee(reward, assignments=10 if large else 9, masters=bool(picked)) == rounded_fee(
                reward, rate
            )
        assert bonus_fee(reward) == rounded_fee(reward, BASE_RATE)


@pytest.mark.parametrize(("masters", "cost"), [(False, "1.68"), (True, "1.75")])
def test_a_rounds_price_has_the_fee_of_what_it_demands(db, masters, cost):
    made = make_round(reward="1.40", published=False)
    Round.objects.update(offer=Offer(masters=masters).as_json())
    made.refresh_from_db()
    assert (str(seat_cost(made, "mturk")), str(seat_cost(made, "browser"))) == (cost, "1.40")
