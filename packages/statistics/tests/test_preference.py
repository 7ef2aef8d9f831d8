import doctest

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from counterpart_statistics import preference
from counterpart_statistics.preference import bradley_terry, bradley_terry_intervals

COUNTS = st.integers(2, 6).flatmap(lambda n: arrays(np.int16, (n, n), elements=st.integers(1, 30)))
# ECCV Caption, table D.1. Its rows, printed A to E, are really B, D, A, C, E; the 24 on its diagonal means nothing.
TABLE_D1 = [
    [0, 231, 66, 111, 316],
    [89, 0, 21, 79, 328],
    [254, 299, 0, 273, 343],
    [185, 217, 23, 0, 287],
    [28, 16, 1, 9, 24],
]


def pairs(wins: np.ndarray) -> list[tuple[int, int]]:
    return [(i, j) for i in range(len(wins)) for j in range(len(wins)) if i != j for _ in range(int(wins[i, j]))]


def test_the_documented_examples_hold():
    assert doctest.testmod(preference).failed == 0


def test_table_d1_gives_the_strengths_of_the_paper():
    by_name = dict(zip("BDACE", bradley_terry(TABLE_D1), strict=True))
    printed = {"A": 70.85, "B": 13.15, "C": 10.66, "D": 4.89, "E": 0.44}
    # The main text assigns 13.15 to B and 10.66 to C; by table D.1 it is the other way round.
    assert sorted(by_name.values()) == pytest.approx(sorted(printed.values()), abs=0.006)
    assert by_name["A"] == pytest.approx(70.85, abs=0.006)


def test_two_items_are_as_strong_as_they_are_preferred():
    assert bradley_terry([[0, 30], [10, 0]]) == pytest.approx([75, 25])


@given(COUNTS)
@settings(max_examples=12, deadline=None)
def test_strengths_agree_with_choix(wins):
    theirs = np.exp(choix.opt_pairwise(len(wins), pairs(wins), method="Newton-CG", tol=1e-10))
    assert bradley_terry(wins) == pytest.approx(100 * theirs / theirs.sum(), rel=1e-4)


@given(COUNTS)
@settings(max_examples=40)
def test_each_item_wins_as_often_as_its_strength_says(wins):
    """The equations that define the maximum of the likelihood."""
    p = bradley_terry(wins)
    wins = wins * (1 - np.eye(len(wins)))
    expected = (wins + wins.T) * p[:, None] / (p[:, None] + p)
    assert expected.sum(1) == pytest.approx(wins.sum(1))


def test_few_preferences_and_great_differences_converge():
    wins = [[0, 10_000, 1], [1, 0, 10_000], [0, 1, 0]]
    p = bradley_terry(wins)
    assert p.sum() == pytest.approx(100)
    assert p[0] > p[1] > p[2] > 0


def test_intervals_of_two_items_are_those_of_a_share():
    found = bradley_terry_intervals([[0, 30], [10, 0]])
    reach = 1.959964 * (1 / 30 + 1 / 10) ** 0.5  # Wald's interval of the log-odds
    odds = np.log(3) + np.array([-reach, reach])
    assert (found.low[0], found.high[0]) == pytest.approx(tuple(100 / (1 + np.exp(-odds))), abs=1e-3)
    assert found.low[1] == pytest.approx(100 - found.high[0])


def test_intervals_agree_with_a_bootstrap():
    wins = np.array(TABLE_D1, float)
    np.fill_diagonal(wins, 0)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(200):
        copy = np.zeros_like(wins)
        for i in range(5):
            for j in range(i):
                both = int(wins[i, j] + wins[j, i])
                copy[i, j] = rng.binomial(both, wins[i, j] / both)
                copy[j, i] = both - copy[i, j]
        drawn.append(bradley_terry(copy))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    found = bradley_terry_intervals(wins)
    np.testing.assert_allclose(found.high - found.low, high - low, rtol=0.35)
    assert ((found.low < found.strengths) & (found.strengths < found.high)).all()


def test_intervals_cover_true_strengths_at_their_rate():
    p = np.array([50, 30, 15, 5])
    chances = p[:, None] / (p[:, None] + p)
    rng = np.random.default_rng(3)
    covered = np.zeros(4)
    for _ in range(200):
        upper = np.triu(rng.binomial(60, chances), 1)
        wins = upper + np.triu(60 - upper, 1).T
        found = bradley_terry_intervals(wins)
        covered += (found.low <= p) & (p <= found.high)
    assert ((covered >= 180) & (covered <= 199)).all()  # 190 are expected; three standard deviations are 9


@pytest.mark.parametrize(
    ("wins", "message"),
    [
        ([[0, 3], [0, 0]], "no finite estimate: 2 groups .* are not preferred"),
        ([[0, 3, 1], [3, 0, 1], [0, 0, 0]], "no finite estimate: 2 groups"),
        ([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "no finite estimate"),
        ([[0, -1], [1, 0]], "counts of 0 or more"),
        ([[0, float("nan")], [1, 0]], "counts of 0 or more"),
        ([[0, 1, 2]], "a square matrix"),
        ([[0]], "a square matrix"),
    ],
)
def test_preferences_without_an_estimate_are_refused(wins, message):
    with pytest.raises(ValueError, match=message):
        bradley_terry(wins)


def test_an_invalid_confidence_is_refused():
    with pytest.raises(ValueError, match="Invalid confidence 95"):
        bradley_terry_intervals([[0, 1], [1, 0]], confidence=95)
