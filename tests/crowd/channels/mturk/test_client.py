"""What a refusal of MTurk means for the call: try again, look whether it took effect, or give up; and no secret."""

from datetime import timedelta

import pytest

from crowd.channels.mturk.client import FUNDS_PAUSE, THROTTLED_PAUSE, Environment, TurkError, refusal_of

FUNDS = {"TurkErrorCode": "AWS.MechanicalTurk.InsufficientFunds"}


@pytest.mark.parametrize(
    ("status", "name", "details", "retry_after"),
    [(400, "ThrottlingException", {}, THROTTLED_PAUSE), (429, "Odd", {}, THROTTLED_PAUSE)]
    + [(400, "RequestError", FUNDS, FUNDS_PAUSE)],
)
def test_a_call_that_was_refused_for_now_is_tried_again_after_a_pause(status, name, details, retry_after: timedelta):
    error = refusal_of(answer(status, name) | details)
    assert (error.reached, error.permanent, error.retry_after) == (False, False, retry_after)


@pytest.mark.parametrize(("status", "name"), [(500, "Odd"), (400, "ServiceFault"), (400, "InternalFailure")])
def test_a_call_at_which_mturk_failed_may_have_taken_effect(status, name):
    error = refusal_of(answer(status, name))
    assert (error.reached, error.permanent) == (True, False)


def test_a_call_that_mturk_understood_and_refused_is_not_tried_again():
    error = refusal_of(answer(400, "RequestError"))
    assert (error.reached, error.permanent) == (False, True)


def answer(status: int, name: str) -> dict:
    return {"Error": {"Code": name}, "ResponseMetadata": {"HTTPStatusCode": status}}


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
