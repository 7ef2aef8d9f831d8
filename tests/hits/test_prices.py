"""Amounts as the paper has them."""

from decimal import Decimal

import pytest

from hits.prices import FeeSchedule, cents

FIFTH = FeeSchedule(reward=Decimal("0.20"), bonus=Decimal("0.20"), least=Decimal("0.01"))


@pytest.mark.parametrize(
    ("amount", "rounded"),
    [("0.125", "0.13"), ("0.135", "0.14"), ("0.1249", "0.12"), ("2", "2.00"), ("1.005", "1.01")],
)
def test_half_a_cent_goes_up(amount, rounded):
    assert str(cents(Decimal(amount))) == rounded


@pytest.mark.parametrize(("reward", "with_fee"), [("0.65", "0.78"), ("1.40", "1.68"), ("0", "0.01")])
def test_a_fee_is_a_share_of_the_reward_and_at_least_a_cent(reward, with_fee):
    assert FIFTH.cost(Decimal(reward)) == Decimal(with_fee)


@pytest.mark.parametrize(("amount", "fee"), [("0.01", "0.01"), ("0.05", "0.01"), ("0.13", "0.03"), ("10", "2.00")])
def test_a_bonus_has_a_fee_of_its_own(amount, fee):
    assert str(FIFTH.bonus_fee(Decimal(amount))) == fee


def test_without_a_schedule_nothing_is_taken():
    assert (FeeSchedule().reward_fee(Decimal("0.65")), FeeSchedule().bonus_fee(Decimal("1"))) == (0, 0)


def test_the_fee_is_rounded_for_each_assignment_not_for_the_round():
    assert FIFTH.cost(Decimal("0.03"), assignments=100) == Decimal("4.00")


def test_the_papers_second_stage_as_eccv_18_has_one_price():
    assert FIFTH.cost(Decimal("0.65"), assignments=2_902) == Decimal("2263.56")
    assert FeeSchedule().cost(Decimal("0.65"), assignments=2_902) == Decimal("1886.30")


def test_a_schedule_is_kept_as_json():
    assert FeeSchedule.from_json(FIFTH.as_json()) == FIFTH
    assert FeeSchedule.from_json({}) == FeeSchedule()
