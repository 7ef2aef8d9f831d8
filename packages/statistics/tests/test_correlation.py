import doctest
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from counterpart_statistics import correlation
from counterpart_statistics.correlation import Level, correlations, multiplicity, spearman, tau_b

NAN = float("nan")
SCORES = st.integers(2, 25).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 6), min_size=n, max_size=n)] * 2))


def test_the_documented_examples_hold():
    assert doctest.testmod(correlation).failed == 0


def test_tau_b_by_hand_with_a_tie():
    # Six pairs: 1-2 tied in a; of the others four agree and one does not. (4 - 1) / sqrt(5 x 6).
    assert tau_b([1, 1, 2, 3], [1, 2, 4, 3]) == pytest.approx(3 / 30**0.5)


@pytest.mark.slow
@given(SCORES)
def test_both_coefficients_agree_with_scipy(scores):
    a, b = scores
    varied = len(set(a)) > 1 and len(set(b)) > 1
    for ours, theirs in ((tau_b, kendalltau), (spearman, spearmanr)):
        found = ours(a, b)
        assert np.isnan(found) if not varied else found == pytest.approx(theirs(a, b).statistic)


def test_models_without_a_score_are_left_out():
    assert tau_b([1, 2, NAN, 3], [2, 1, 5, NAN]) == -1
    assert np.isnan(tau_b([1, NAN], [1, 2]))
    assert np.isnan(spearman([2, 2], [1, 2]))


def test_the_matrix_has_every_two_metrics():
    scores = np.random.default_rng(0).random((9, 3))
    for coefficient in (tau_b, spearman):
        found = correlations(scores, coefficient)
        assert found[0, 2] == found[2, 0] == coefficient(scores[:, 0], scores[:, 2])
        np.testing.assert_allclose(np.diag(found), 1)


@pytest.mark.parametrize(
    "call", [lambda: tau_b([1, 2], [1]), lambda: spearman([[1]], [[1]]), lambda: correlations([1])]
)
def test_arrays_of_other_shapes_are_refused(call):
    with pytest.raises(ValueError, match="Scores must be"):
        call()


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
