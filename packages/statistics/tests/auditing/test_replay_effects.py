"""Effects of a policy on scores: the figures of one replay, and their spread over several."""

import pytest

from counterpart_statistics.auditing.replay_effects import Spread, figures


def test_tau_bias_and_centred_bias_of_a_case_worked_by_hand():
    """Deviations -0.1, -0.3, +0.1 have a mean of -0.1: centred 0, -0.2, 0.2. One of three pairs of models swaps."""
    tau, bias, centred = figures([0.4, 0.2, 0.3], [0.5, 0.5, 0.2])
    assert (bias, centred) == pytest.approx((0.5 / 3, 0.4 / 3))
    assert tau == pytest.approx(0.0)  # one of the two pairs that the full round orders is kept, the other is not
    assert figures([0.5, 0.4], [0.9, 0.8]) == pytest.approx((1.0, 0.4, 0.0))


def test_a_spread_leaves_out_what_is_undefined():
    assert Spread.of([1.0, None, float("nan"), 3.0]) == Spread(2.0, 1.0, 3.0)
    assert Spread.of([None]) == Spread(None, None, None)
