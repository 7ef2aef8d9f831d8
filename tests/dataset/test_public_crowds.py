"""The figures of ``benchmarks.certainty``: on a small simulated crowd, and on public ones of the shared data."""

import numpy as np
import pytest

from benchmarks import certainty


def test_the_calibration_error_of_a_case_by_hand():
    # Two of 0.95 of which one is right, two of 0.55 of which both are: (2 * 0.45 + 2 * 0.45) / 4.
    right = np.array([True, False, True, True])
    assert certainty.calibration_error(np.array([0.95, 0.95, 0.55, 0.55]), right) == pytest.approx(0.45)


@pytest.mark.slow
def test_probabilities_on_public_crowds_have_a_calibration_error_of_at_most_3_percent(shared):
    for crowd in certainty.crowds(shared / "data"):
        for method in ("dawid-skene", "ordinal"):
            judged = [crowd.draw(seed).judge(None, method) for seed in range(5)]
            assert np.mean([one.calibration_error("match") for one in judged]) <= 0.03, (crowd.name, method)
