import doctest
import re
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
ARXIV = "seeds/002_14fb4338b41e5f1e.txt"
COLUMNS = ["mAP@R", "R-P", "ECCV R@1", "CxC R@1", "1K R@1", "1K R@5", "1K R@10", "5K R@1", "5K R@5", "5K R@10", "PMRP"]
TABLE_5 = {
    "1K R@1": [1, 0.87, 0.86, 0.89, 0.97, 0.92, 0.89, 0.72, 0.39, 0.47, 0.45],
    "1K R@5": [0.87, 1, 0.97, 0.79, 0.88, 0.93, 0.79, 0.81, 0.49, 0.58, 0.39],
    "1K R@10": [0.86, 0.97, 1, 0.77, 0.86, 0.91, 0.77, 0.79, 0.49, 0.57, 0.43],
    "5K R@1": [0.89, 0.79, 0.77, 1, 0.89, 0.83, 1, 0.65, 0.30, 0.39, 0.45],
    "5K R@5": [0.97, 0.88, 0.86, 0.89, 1, 0.95, 0.89, 0.75, 0.41, 0.50, 0.43],
    "5K R@10": [0.92, 0.93, 0.91, 0.83, 0.95, 1, 0.83, 0.80, 0.47, 0.55, 0.38],
    "CxC R@1": [0.89, 0.79, 0.77, 1, 0.89, 0.83, 1, 0.65, 0.30, 0.39, 0.45],
    "ECCV R@1": [0.72, 0.81, 0.79, 0.65, 0.75, 0.80, 0.65, 1, 0.65, 0.74, 0.29],
    "R-P": [0.39, 0.49, 0.49, 0.30, 0.41, 0.47, 0.30, 0.65, 1, 0.90, 0.17],
    "mAP@R": [0.47, 0.58, 0.57, 0.39, 0.50, 0.55, 0.39, 0.74, 0.90, 1, 0.20],
    "PMRP": [0.45, 0.39, 0.43, 0.45, 0.43, 0.38, 0.45, 0.29, 0.17, 0.20, 1],
}


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


@pytest.mark.shared
def test_tables_d2_and_d3_give_table_5(shared):
    """The averages of both directions; PMRP from table 4's own column, as ``papers.md`` explains."""
    text = (shared / ARXIV).read_text()
    full = _rows(text[text.index("D.3 Full table") :], 11)
    image_to_text, text_to_image = full[:25], full[25:]
    pmrp = _rows(text[text.index("Table 4: Re-evaluating") : text.index("Evaluated methods.")], 7)[:, -1]
    assert (len(text_to_image), len(pmrp)) == (25, 25)
    scores = (image_to_text + text_to_image) / 2
    scores[:, -1] = pmrp
    found = correlations(scores)
    order = [COLUMNS.index(name) for name in TABLE_5]
    found, printed = found[np.ix_(order, order)], np.array(list(TABLE_5.values()))
    np.testing.assert_allclose(found[:-1, :-1], printed[:-1, :-1], atol=0.005)
    # Two models share the printed PMRP of 57.65, and so have tied ranks here only.
    np.testing.assert_allclose(found[-1], printed[-1], atol=0.0065)


def _rows(text: str, n: int) -> np.ndarray:
    lines = re.findall(rf"^.*?\S((?: \d+\.\d+){{{n}}})$", text, re.MULTILINE)
    return np.array([line.split() for line in lines], float)


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
