"""Which refusals of MTurk mean that a call was made before."""

import pytest

from crowd.channels.mturk.client import TurkError


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
