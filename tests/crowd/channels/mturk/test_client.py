"""What a refusal of MTurk means for the call: try again, look whether it took effect, or give up; and no secret."""

from dataclasses import replace
from decimal import Decimal

import pytest

from counterpart_emulators.mturk.balance import BASE_RATE, MASTERS_RATE, rounded_fee
from crowd.channels.mturk.client import FUNDS_PAUSE, THROTTLED_PAUSE, Environment, TurkError, refusal_of
from crowd.channels.mturk.payments import fee_schedule
from crowd.offers import offer_of
from crowd.posting.publication import quote, set_terms
from tests.factories import make_round

FUNDS = {"TurkErrorCode": "AWS.MechanicalTurk.InsufficientFunds"}


@pytest.mark.parametrize(
    ("status", "name", "details", "may_have_acted", "is_final", "retry_after"),
    [
        (400, "ThrottlingException", {}, False, False, THROTTLED_PAUSE),
        (429, "Odd", {}, False, False, THROTTLED_PAUSE),
        (400, "RequestError", FUNDS, False, False, FUNDS_PAUSE),
        (500, "Odd", {}, True, False, None),
        (400, "ServiceFault", {}, True, False, None),
        (400, "InternalFailure", {}, True, False, None),
        (400, "RequestError", {}, False, True, None),
    ],
)
def test_only_a_call_that_mturk_understood_and_refused_is_not_tried_again(
    status, name, details, may_have_acted, is_final, retry_after
):
    error = refusal_of({"Error": {"Code": name}, "ResponseMetadata": {"HTTPStatusCode": status}} | details)
    assert (error.reached, error.permanent, error.retry_after) == (may_have_acted, is_final, retry_after)


@pytest.mark.parametrize(
    ("message", "is_replay"),
    [
        ("A request with this UniqueRequestToken has already been processed.", True),
        ("The token is too long.", False),
        ("The request cannot be processed in this state.", False),
        ("You have insufficient funds.", False),
    ],
)
def test_only_a_refusal_of_a_token_that_was_processed_is_a_replay(message, is_replay):
    assert TurkError(f"MTurk: {message}", code="RequestError", permanent=True).is_replay == is_replay


def test_a_printed_environment_has_no_secret_key():
    environment = Environment("production", "https://mturk.example", (), "AKID", "the-secret-key")
    assert "the-secret-key" not in repr(environment)


# AWS's schedule, to the cent: what we estimate is what the emulator debits


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
