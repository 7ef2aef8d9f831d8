import doctest

import numpy as np
import pytest

from counterpart_annotators import embedding_plane
from counterpart_annotators.embedding_plane import covered, plane


def slow_covered(places, chosen, side):
    """The cells of the bounding box, one item at a time."""
    low, high = np.min(places, axis=0), np.max(places, axis=0)

    def cell(point):
        return tuple(min(side - 1, int(side * (point[a] - low[a]) / (high[a] - low[a]))) for a in (0, 1))

    return 100 * len({cell(places[row]) for row in chosen}) / len({cell(point) for point in places})


def test_near_embeddings_are_near_on_the_plane_of_a_seed():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(30, 8)) + np.repeat([[0.0], [50], [100]], 10, axis=0)
    places = plane(rows, perplexity=5)
    assert np.array_equal(places, plane(rows, perplexity=5))
    middles = places.reshape(3, 10, 2).mean(1)
    nearest = np.linalg.norm(places[:, None] - middles, axis=2).argmin(1)
    assert nearest.tolist() == np.repeat([0, 1, 2], 10).tolist()


def test_the_covered_share_of_a_case_worked_by_hand():
    # Four corners hold all six items: the lower left one three, of which two are chosen, and the upper right one.
    places = [[0, 0], [1, 1], [0.5, 0], [10, 0], [0, 10], [10, 10]]
    assert covered(places, [0, 1, 5], side=2) == 50
    assert covered(places, range(6), side=2) == 100
    assert covered(places, [], side=2) == 0
    assert doctest.testmod(embedding_plane).failed == 0


@pytest.mark.parametrize("side", [1, 4, 6])
def test_the_covered_share_equals_a_slow_reference(side):
    places = np.random.default_rng(side).normal(size=(80, 2))
    assert covered(places, range(0, 80, 7), side=side) == pytest.approx(slow_covered(places, range(0, 80, 7), side))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: plane(np.ones((3, 2))), r"shape \(3, 2\)"),
        (lambda: covered([[0, 0]], [1]), "rows must be 0 to 0, not 1 to 1"),
        (lambda: covered([0, 1], [0]), r"not \(2,\) and 6"),
    ],
)
def test_what_is_no_plane_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
