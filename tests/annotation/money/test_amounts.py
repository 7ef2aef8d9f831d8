"""Amounts as the paper has them."""

from decimal import Decimal

import pytest

from annotation.amounts import cents, fee, round_cost
from core.errors import CounterpartError


@pytest.mark.parametrize(
    ("amount", "rounded"),
    [("0.125", "0.13"), ("0.135", "0.14"), ("0.1249", "0.12"), ("2", "2.00"), ("1.005", "1.01")],
)
def test_half_a_cent_goes_up(amount, rounded):
    assert str(cents(Decimal(amount))) == rounded


@pytest.mark.parametrize(("reward", "with_fee"), [("0.65", "0.78"), ("1.40", "1.68")])
def test_a_paid_assignment_on_mturk_costs_a_fifth_more(reward, with_fee):
    assert Decimal(reward) + fee(Decimal(reward), "mturk") == Decimal(with_fee)


def test_the_browser_channel_takes_no_fee():
    assert fee(Decimal("0.65"), "browser") == 0


def test_the_fee_is_rounded_for_each_assignment_not_for_the_round():
    assert round_cost(Decimal("0.03"), assignments=100, channel="mturk") == Decimal("4.00")


def test_the_papers_second_stage_as_eccv_18_has_one_price():
    assert round_cost(Decimal("0.65"), assignments=2_902, channel="mturk") == Decimal("2263.56")
    assert round_cost(Decimal("0.65"), assignments=2_902, channel="browser") == Decimal("1886.30")


def test_an_unknown_channel_has_no_fee():
    with pytest.raises(CounterpartError, match="'pigeon' here; choose one of: browser, mturk"):
        fee(Decimal("1"), "pigeon")
