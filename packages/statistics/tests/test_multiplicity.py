"""Figure 3b's arithmetic."""

from itertools import combinations

import numpy as np
import pytest

from counterpart_statistics.multiplicity import Level, multiplicity


def slow_tau_b(a: np.ndarray, b: np.ndarray) -> float:
    signs = [(np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i, j in combinations(range(len(a)), 2)]
    agreed = sum(x * y for x, y in signs)
    return agreed / (sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs)) ** 0.5


def test_items_are_taken_together_by_their_positives():
    found = multiplicity([0.5, 0.1, 0.3, 0.2], [7, 1, 1, 5])
    assert found.levels == [Level(1, 2, pytest.approx(0.2)), Level(5, 1, 0.2), Level(7, 1, 0.5)]


def test_correlation_is_tau_b_over_all_items():
    rng = np.random.default_rng(0)
    uncertainty, positives = rng.random(40).round(1), rng.integers(1, 6, 40)
    assert multiplicity(uncertainty, positives).tau_b == pytest.approx(slow_tau_b(uncertainty, positives))


def test_items_of_which_more_can_be_said_give_a_positive_correlation():
    assert multiplicity([0.1, 0.2, 0.3, 0.4], [1, 2, 2, 8]).tau_b > 0.9
    assert multiplicity([0.4, 0.3, 0.2, 0.1], [1, 2, 2, 8]).tau_b < -0.9


def test_equal_positives_have_no_correlation():
    assert np.isnan(multiplicity([0.4, 0.3], [5, 5]).tau_b)
