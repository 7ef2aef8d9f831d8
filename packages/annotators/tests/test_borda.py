from collections import Counter
from statistics import median

import numpy as np
import pytest

from counterpart_annotators.kinds.kcca.canonical_correlation import borda


def slow_borda(rankings: list[list[int]]) -> list[int]:
    n = len(rankings[0])
    points, places = Counter(), {item: [] for item in range(n)}
    for ranking in rankings:
        for place, item in enumerate(ranking):
            points[item] += n - place
            places[item].append(place)
    return sorted(range(n), key=lambda item: (-points[item], median(places[item]), item))


@pytest.mark.parametrize("seed", range(20))
def test_it_agrees_with_counting_by_hand(seed):
    rng = np.random.default_rng(seed)
    rankings = np.stack([rng.permutation(6) for _ in range(rng.integers(1, 6))])
    assert borda(rankings).tolist() == slow_borda(rankings.tolist())


def test_equal_sums_go_by_the_median_place():
    # Item 0 is at 0, 0, 3 and item 1 at 1, 1, 1: three each, and medians 0 and 1.
    assert borda(np.array([[0, 1, 2, 3], [0, 1, 3, 2], [2, 1, 3, 0]])).tolist()[:2] == [0, 1]


@pytest.mark.parametrize("rankings", [np.array([[0, 0, 1]]), np.array([[0, 1, 3]])])
def test_a_ranking_without_an_item_is_refused(rankings):
    with pytest.raises(ValueError, match="each of 3 items once"):
        borda(rankings)
