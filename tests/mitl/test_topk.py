import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mitl.topk import bidirectional_topk, topk_of_products, topk_of_scores

LITTLE_MEMORY = 400  # bytes: tiles of 4 x 5


def slow_topk(scores: np.ndarray, k: int) -> np.ndarray:
    """Each row's k best columns in float64, by falling score, then by rising index."""
    return np.array([sorted(range(len(row)), key=lambda j: (-row[j], j))[:k] for row in scores.astype(np.float64)])


@st.composite
def two_sides(draw):
    """Small whole numbers: their products are exact in float32, and many are equal."""
    dim = draw(st.integers(1, 3))
    side = st.integers(1, 14).flatmap(lambda n: arrays(np.int8, (n, dim), elements=st.integers(-2, 2)))
    return draw(side), draw(side)


@settings(max_examples=60, deadline=None)
@given(two_sides(), st.data())
def test_both_directions_agree_with_a_float64_reference_ties_included(sides, data):
    images, captions = (side.astype(np.float32) for side in sides)
    k = data.draw(st.integers(1, min(len(images), len(captions))))
    found = bidirectional_topk(images, captions, k, memory=data.draw(st.sampled_from([1, LITTLE_MEMORY, 2**20])))
    scores = images @ captions.T
    np.testing.assert_array_equal(found.i2t_indices, slow_topk(scores, k))
    np.testing.assert_array_equal(found.t2i_indices, slow_topk(scores.T, k))
    np.testing.assert_array_equal(found.i2t_scores, np.take_along_axis(scores, found.i2t_indices, 1))
    np.testing.assert_array_equal(found.t2i_scores, np.take_along_axis(scores.T, found.t2i_indices, 1))


def test_a_case_worked_by_hand():
    images, captions = [[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [0.0, 3.0], [2.0, 0.0]]
    found = bidirectional_topk(images, captions, 2)
    assert found.i2t_indices.tolist() == [[0, 2], [1, 0]]
    assert found.i2t_scores.tolist() == [[2.0, 2.0], [3.0, 1.0]]
    assert found.t2i_indices.tolist() == [[0, 1], [1, 0], [0, 1]]


@pytest.mark.parametrize("order", ["random", "ascending"])
def test_real_embeddings_agree_with_a_float64_reference(order):
    rng = np.random.default_rng(3)
    images, captions = rng.normal(size=(70, 16)), rng.normal(size=(110, 16))
    if order == "ascending":
        captions = captions[np.argsort(captions @ images[0])]
    found = bidirectional_topk(images, captions, 10, memory=20_000)
    np.testing.assert_array_equal(found.i2t_indices, slow_topk(images @ captions.T, 10))
    np.testing.assert_array_equal(found.t2i_indices, slow_topk(captions @ images.T, 10))


def test_one_direction_may_ask_for_all_items():
    queries, items = np.eye(2, 3), np.arange(15.0).reshape(5, 3)
    indices, scores = topk_of_products(queries, items, 5, memory=LITTLE_MEMORY)
    assert indices.tolist() == [[4, 3, 2, 1, 0]] * 2
    assert scores[0].tolist() == [12, 9, 6, 3, 0]


def test_scores_that_are_computed_block_by_block_give_the_same():
    scores = np.random.default_rng(0).integers(0, 4, (13, 17)).astype(np.float32)
    indices, best = topk_of_scores(lambda rows, columns: scores[rows, columns], scores.shape, 6, memory=LITTLE_MEMORY)
    np.testing.assert_array_equal(indices, slow_topk(scores, 6))
    np.testing.assert_array_equal(best, np.take_along_axis(scores, indices, 1))


def test_memory_maps_will_do(tmp_path):
    np.save(tmp_path / "images.npy", np.eye(4, dtype=np.float32))
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    assert bidirectional_topk(mapped, mapped, 1).i2t_indices.ravel().tolist() == [0, 1, 2, 3]


GOOD = np.ones((3, 2))


@pytest.mark.parametrize(
    ("images", "captions", "k", "message"),
    [
        ([[1.0, np.nan], [0, 0]], GOOD, 1, "1 rows of images hold NaN or infinity as float32; the first is row 0"),
        (GOOD, [[1.0, 1.0], [1e300, 0]], 1, "1 rows of captions hold NaN or infinity as float32; the first is row 1"),
        (GOOD * 3e38, GOOD * 3e38, 1, "beyond float32"),
        (GOOD[0], GOOD, 1, r"images must have shape \(N, D\)"),
        (np.empty((0, 2)), GOOD, 1, r"images must have shape \(N, D\)"),
        (GOOD, np.ones((3, 4)), 1, "Embeddings of 2 and of 4 dimensions"),
        (GOOD, np.array([["a", "b"]]), 1, "captions must be real numbers"),
        (GOOD, GOOD.astype(complex), 1, "captions must be real numbers"),
        (GOOD, GOOD[:2], 3, "k must be between 1 and 2"),
        (GOOD, GOOD, 0, "k must be between 1 and 3"),
    ],
)
def test_what_cannot_be_searched_is_named(images, captions, k, message):
    with pytest.raises(ValueError, match=message):
        bidirectional_topk(images, captions, k)


@pytest.mark.parametrize(
    ("block", "message"),
    [(np.full((2, 3), np.nan), "2 rows of scores hold NaN"), (np.zeros((3, 2)), r"shape \(3, 2\)")],
)
def test_blocks_that_are_no_scores_are_refused(block, message):
    with pytest.raises(ValueError, match=message):
        topk_of_scores(lambda rows, columns: block, (2, 3), 1)
