import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from counterpart_topk import bidirectional_topk, topk_of_products
from first_passes import FIRST_PASSES, take_first
from slow_topk import assert_best, reference
from topk_inputs import HARD, random

LITTLE_MEMORY = 240_000  # bytes: strips of some 80 rows, panels of 40 columns


def test_a_case_worked_by_hand():
    images, captions = [[1.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [0.0, 3.0], [2.0, 0.0]]
    found = bidirectional_topk(images, captions, 2)
    assert found.i2t_indices.tolist() == [[0, 2], [1, 0]]
    assert found.i2t_scores.tolist() == [[2.0, 2.0], [3.0, 1.0]]
    assert found.t2i_indices.tolist() == [[0, 1], [1, 0], [0, 1]]


@st.composite
def two_sides(draw):
    """Small whole numbers: equal vectors and equal scores of different vectors abound."""
    dimensions = draw(st.integers(1, 4))
    side = st.integers(1, 90).flatmap(lambda n: arrays(np.int8, (n, dimensions), elements=st.integers(-2, 2)))
    images, captions = draw(side).astype(np.float32), draw(side).astype(np.float32)
    images[~images.any(1)] = captions[~captions.any(1)] = 1
    return images, captions


@settings(max_examples=40, deadline=None)
@given(two_sides(), st.sampled_from(sorted(FIRST_PASSES)), st.sampled_from([5_000, LITTLE_MEMORY, 2**20]), st.data())
def test_ties_of_every_kind_are_in_order(sides, precision, memory, data):
    k = data.draw(st.integers(1, min(map(len, sides))))
    with pytest.MonkeyPatch.context() as patched:
        take_first(precision, patched)
        assert_best(bidirectional_topk(*sides, k, memory=memory), *sides, k)


@pytest.mark.slow
@pytest.mark.parametrize("memory", [LITTLE_MEMORY, 2**29], ids=["little", "plenty"])
@pytest.mark.parametrize("make", HARD, ids=lambda make: make.__name__)
def test_a_search_agrees_with_the_float64_product(make, memory, first_pass):
    best = reference(make, 10)
    best.hold(bidirectional_topk(best.images, best.captions, 10, memory=memory))


def test_lists_may_be_long(first_pass):
    best = reference(random, 250)
    best.hold(bidirectional_topk(best.images, best.captions, 250))


@pytest.mark.slow
def test_one_direction_may_ask_for_all_items():
    queries, items = np.eye(2, 3), np.arange(15.0).reshape(5, 3)
    indices, scores = topk_of_products(queries, items, 5)
    assert indices.tolist() == [[4, 3, 2, 1, 0]] * 2
    assert scores[0].tolist() == [12, 9, 6, 3, 0]


@pytest.mark.slow
@pytest.mark.parametrize("make", HARD, ids=lambda make: make.__name__)
def test_one_direction_agrees_with_the_float64_product(make, first_pass):
    best = reference(make, 10)
    np.testing.assert_array_equal(topk_of_products(best.images, best.captions, 7)[0], best.i2t[:, :7])


def test_memory_maps_will_do(tmp_path):
    np.save(tmp_path / "images.npy", np.eye(4, dtype=np.float32))
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    assert bidirectional_topk(mapped, mapped, 1).i2t_indices.ravel().tolist() == [0, 1, 2, 3]


GOOD = np.ones((3, 2))


@pytest.mark.parametrize(
    ("images", "captions", "k", "message"),
    [
        ([[1.0, np.nan], [0, 1]], GOOD, 1, "1 rows of images hold NaN or infinity; the first is row 0"),
        (GOOD, [[1.0, 1.0], [np.inf, 0]], 1, "1 rows of captions hold NaN or infinity; the first is row 1"),
        (GOOD, [[1.0, 1.0], [0, 0], [0, 0]], 1, "2 rows of captions are zero vectors.*the first is row 1"),
        (GOOD * 3e38, GOOD, 1, "3 rows of images are too long or too short for float32"),
        (GOOD[0], GOOD, 1, r"images must have shape \(N, D\)"),
        (np.empty((0, 2)), GOOD, 1, r"images must have shape \(N, D\)"),
        (GOOD, np.ones((3, 4)), 1, "Embeddings of 2 and of 4 dimensions"),
        (np.ones((3, 2, 2)), np.ones((3, 4)), 1, "Embeddings of 2 and of 4 dimensions"),
        (np.full((3, 2, 2), np.nan), GOOD, 1, "6 rows of images hold NaN or infinity; the first is row 0"),
        (GOOD, np.array([["a", "b"]]), 1, "captions must be real numbers"),
        (GOOD, GOOD.astype(complex), 1, "captions must be real numbers"),
        (GOOD, GOOD.astype(bool), 1, "captions must be real numbers"),
        (GOOD, GOOD[:2], 3, "k must be a whole number between 1 and 2"),
        (GOOD, GOOD, 0, "k must be a whole number between 1 and 3"),
        (GOOD, GOOD, 1.5, "k must be a whole number between 1 and 3, the number of items, not 1.5"),
        (GOOD, GOOD, "2", "k must be a whole number between 1 and 3, the number of items, not '2'"),
        ([[1.0], [1.0, 2.0]], GOOD, 1, "images cannot be read as an array"),
        (GOOD, np.array([[object()]]), 1, "captions must be real numbers, not object"),
        (np.zeros((3, 2, 2)), GOOD, 1, "6 rows of images are zero vectors"),
    ],
)
def test_what_cannot_be_searched_is_named(images, captions, k, message):
    with pytest.raises(ValueError, match=message):
        bidirectional_topk(images, captions, k)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"device": "gpu"}, "torch cannot compute on the device 'gpu' .*; use 'cpu' or 'cuda'"),
        ({"device": 3.5}, "torch cannot compute on the device 3.5"),
        ({"memory": 0}, "memory must be a whole number of bytes, at least 1, not 0"),
        ({"memory": "512 MB"}, "memory must be a whole number of bytes, at least 1, not '512 MB'"),
    ],
)
def test_a_device_or_a_memory_that_does_not_exist_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        bidirectional_topk(GOOD, GOOD, 1, **wrong)


def best_of_all(images, captions, k):
    """Every product of every pair, in float64."""
    images, captions = (side.reshape(len(side), -1, side.shape[-1]).astype(np.float64) for side in (images, captions))
    scores = np.einsum("nkd,mld->nmkl", images, captions).max((2, 3))
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k], np.argsort(-scores.T, axis=1, kind="stable")[:, :k]
    return order[0], np.take_along_axis(scores, order[0], 1), order[1], np.take_along_axis(scores.T, order[1], 1)


@pytest.mark.parametrize(
    ("images", "captions", "k"),
    [((40, 2), (30, 3), 25), ((6, 3), (9,), 6), ((9,), (6, 4), 6), ((5, 2), (7, 2), 5), ((3, 2), (3, 5), 3)],
)
@pytest.mark.parametrize("ties", [False, True])
def test_items_of_several_embeddings_rank_by_their_best_pair_in_float64(images, captions, k, ties):
    rng = np.random.default_rng(7)

    def draw(shape):
        if ties:  # few values, and many equal scores
            return rng.integers(-1, 2, (*shape, 8)).astype(np.float32) + 3 * (np.arange(8) == 0)
        return rng.standard_normal((*shape, 8)).astype(np.float32)

    sides = draw(images), draw(captions)
    found, wanted = bidirectional_topk(*sides, k), best_of_all(*sides, k)
    for mine, slow in zip(
        (found.i2t_indices, found.i2t_scores, found.t2i_indices, found.t2i_scores), wanted, strict=True
    ):
        np.testing.assert_allclose(mine, slow, atol=1e-12)


def test_near_ties_of_several_embeddings_are_separated():
    """The two captions' best products differ by less than float32 can represent near 1."""
    images = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    captions = np.array([[[1.0, 0.0], [0.5, 0.5]], [[1.0 + 1e-12, 0.0], [0.5, 0.5]]])
    assert bidirectional_topk(images, captions, 1).i2t_indices.tolist() == [[1]]
