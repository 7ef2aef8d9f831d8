from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mitl.topk import (
    bidirectional_topk,
    bidirectional_topk_of_scores,
    join_strips,
    products,
    searching,
    topk_of_products,
    topk_of_scores,
    topk_of_strip,
)
from mitl.topk.accelerated import AcceleratedTiles
from mitl.topk.centring import CentredTiles
from mitl.topk.products import Bfloat16Products, Float32Products
from mitl.topk.tiles import ProductTiles

LITTLE_MEMORY = 60_000  # bytes: strips of some 20 rows, panels of 10 columns
FIRST_PASSES = {
    "bfloat16": partial(ProductTiles, products=Bfloat16Products()),
    "float32": partial(ProductTiles, products=Float32Products()),
    "bfloat16 on cpu": partial(AcceleratedTiles, device="cpu"),  # the same code as on a GPU
}


@pytest.fixture(params=FIRST_PASSES)
def first_pass(request, monkeypatch):
    """Take each first pass, whatever this machine would choose."""
    take_first(request.param, monkeypatch)
    return request.param


def take_first(name, monkeypatch):
    monkeypatch.setattr(searching, "_passes", lambda device: [FIRST_PASSES[name], CentredTiles])


def slow_topk(scores: np.ndarray, k: int) -> np.ndarray:
    """Each row's k best columns, by falling score, then by rising index."""
    return np.array([sorted(range(len(row)), key=lambda j: (-row[j], j))[:k] for row in scores])


def slow_product(images, captions) -> np.ndarray:
    """The float64 product, every score added up in the same order: a matrix product's ends may take another one."""
    return (np.asarray(images, np.float64)[:, None] * np.asarray(captions, np.float64)).sum(axis=2)


def assert_best(found, images, captions, k):
    """Hold a search to the whole float64 product, sorted."""
    scores = slow_product(images, captions)
    np.testing.assert_array_equal(found.i2t_indices, slow_topk(scores, k))
    np.testing.assert_array_equal(found.t2i_indices, slow_topk(scores.T, k))
    np.testing.assert_allclose(
        found.i2t_scores, np.take_along_axis(scores, found.i2t_indices, 1), rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(
        found.t2i_scores, np.take_along_axis(scores.T, found.t2i_indices, 1), rtol=1e-12, atol=1e-15
    )


def unit(rng, n, dimensions=24):
    vectors = rng.standard_normal((n, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


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


@settings(max_examples=80, deadline=None)
@given(two_sides(), st.sampled_from(sorted(FIRST_PASSES)), st.sampled_from([5_000, LITTLE_MEMORY, 2**20]), st.data())
def test_ties_of_every_kind_are_in_order(sides, precision, memory, data):
    k = data.draw(st.integers(1, min(map(len, sides))))
    with pytest.MonkeyPatch.context() as patched:
        take_first(precision, patched)
        assert_best(bidirectional_topk(*sides, k, memory=memory), *sides, k)


def random(rng):
    return unit(rng, 300), unit(rng, 700)


def ascending(rng):
    images, captions = unit(rng, 300), unit(rng, 700)
    return images, captions[np.argsort(captions @ images[0])]


def with_duplicates(rng):
    images, captions = unit(rng, 300), unit(rng, 700)
    captions[rng.integers(0, 700, 200)] = captions[rng.integers(0, 700, 200)]
    return images, captions


def few_different(rng):
    return unit(rng, 7)[rng.integers(0, 7, 300)], unit(rng, 9)[rng.integers(0, 9, 700)]


def all_the_same(rng):
    return np.ones((300, 24), np.float32), np.ones((700, 24), np.float32)


def tight(rng):
    """A narrow cone: scores differ in the fourth digit."""
    return (np.ones(24) + 0.01 * unit(rng, 300)).astype(np.float32), (np.ones(24) + 0.01 * unit(rng, 700)).astype(
        np.float32
    )


def tighter_than_float32(rng):
    """Different vectors in float64 that are one in float32."""
    return np.ones(24) + 1e-9 * unit(rng, 300), np.ones(24) + 1e-9 * unit(rng, 700)


def crowded_near_some(rng):
    """Most captions crowd around one place, so that images near it cannot tell them apart in bfloat16."""
    captions = np.concatenate([unit(rng, 1) + 1e-4 * unit(rng, 400), unit(rng, 300)]).astype(np.float32)
    return np.concatenate([unit(rng, 280), captions[:20]]), captions


def of_all_lengths(rng):
    return unit(rng, 300) * np.logspace(-9, 9, 300, dtype=np.float32)[:, None], unit(rng, 700) * 1e-6


def balanced_signs(rng):
    """Equal scores of vectors that are all different, more than any buffer holds."""
    return np.ones((300, 24), np.float32), rng.permuted(np.tile(np.float32([1, -1] * 12), (700, 1)), axis=1)


def misleading(rng):
    """The best captions are rounded down and the others up, while scores are small beside what they are added from."""
    unit_in_last_place, n = 2.0**-7, 700
    captions = np.ones((n, 64)) + 1e-5 * rng.random((n, 64))
    raised = np.arange(32) < rng.integers(8, 31, (680, 1))
    captions[:680, :32] += 0.51 * unit_in_last_place * raised
    captions[680:, :32] += 0.49 * unit_in_last_place
    images = np.tile(np.repeat([1.0, -1.0], 32), (300, 1)) * np.arange(1, 301)[:, None]
    return images.astype(np.float32), captions.astype(np.float32)


def in_float16(rng):
    return unit(rng, 300).astype(np.float16), unit(rng, 700).astype(np.float16)


HARD = [
    random, ascending, with_duplicates, few_different, all_the_same, tight, tighter_than_float32, crowded_near_some,
    of_all_lengths, balanced_signs, misleading, in_float16,
]  # fmt: skip


@pytest.mark.parametrize("memory", [LITTLE_MEMORY, 2**29], ids=["little", "plenty"])
@pytest.mark.parametrize("make", HARD, ids=lambda make: make.__name__)
def test_a_search_agrees_with_the_float64_product(make, memory, first_pass):
    images, captions = make(np.random.default_rng(5))
    assert_best(bidirectional_topk(images, captions, 10, memory=memory), images, captions, 10)


def test_lists_may_be_long(first_pass):
    images, captions = random(np.random.default_rng(6))
    assert_best(bidirectional_topk(images, captions, 250), images, captions, 250)


def test_the_precision_of_the_first_pass_is_told(first_pass):
    assert bidirectional_topk(*random(np.random.default_rng(7)), 3).precision == first_pass


@pytest.mark.parametrize(("speedup", "precision"), [(2.3, "bfloat16"), (0.7, "float32")])
def test_bfloat16_is_taken_where_a_test_finds_it_faster(speedup, precision, monkeypatch):
    monkeypatch.setattr(products, "bfloat16_speedup", lambda threads: speedup)
    steps = set()
    found = bidirectional_topk(*random(np.random.default_rng(7)), 3, progress=lambda step, *_: steps.add(step))
    assert found.precision == precision
    assert steps == {f"searching in {precision}"}


def test_the_speedup_is_measured():
    assert products.bfloat16_speedup(1) > 0


def test_what_no_precision_tells_apart_is_searched_in_float64(first_pass):
    assert bidirectional_topk(*balanced_signs(np.random.default_rng(7)), 3).precision == "float64"


@settings(max_examples=30, deadline=None)
@given(st.sets(st.integers(1, 299), max_size=6), st.randoms(use_true_random=False))
def test_strips_searched_apart_join_to_the_very_same_bits(cuts, shuffler):
    images, captions = with_duplicates(np.random.default_rng(8))
    whole = bidirectional_topk(images, captions, 25)
    edges = [0, *sorted(cuts), 300]
    strips = [topk_of_strip(images, captions, 25, slice(*edge)) for edge in zip(edges, edges[1:], strict=False)]
    shuffler.shuffle(strips)
    joined = join_strips(strips)
    for part in ("i2t_indices", "i2t_scores", "t2i_indices", "t2i_scores"):
        assert getattr(joined, part).tobytes() == getattr(whole, part).tobytes()


def test_strips_that_leave_a_gap_are_refused():
    images, captions = random(np.random.default_rng(8))
    strips = [topk_of_strip(images, captions, 3, part) for part in (slice(0, 100), slice(101, 300))]
    with pytest.raises(ValueError, match="do not follow one another"):
        join_strips(strips)
    with pytest.raises(ValueError, match="The strip 200:301 does not lie within the 300 images"):
        topk_of_strip(images, captions, 3, slice(200, 301))


class KilledError(Exception):
    """Stands for the end of a process."""


class Memory(dict):
    """Keeps checkpoints of a search until it is killed after so many writes."""

    def __init__(self, lives: int) -> None:
        self.lives = lives

    def save(self, name, **arrays):
        self.lives -= 1
        if self.lives < 0:
            raise KilledError
        self[name] = {key: array.copy() for key, array in arrays.items()}

    def load(self, name):
        return self.get(name)


@pytest.mark.parametrize("make", [with_duplicates, crowded_near_some, tight])
@pytest.mark.parametrize("lives", [0, 1, 2, 5, 12])
def test_a_killed_search_goes_on_from_its_last_strip(make, lives, first_pass):
    images, captions = make(np.random.default_rng(9))
    store = Memory(lives)
    with pytest.raises(KilledError):
        bidirectional_topk(images, captions, 10, memory=100_000, store=store)
    store.lives = 10_000
    steps = []
    found = bidirectional_topk(
        images, captions, 10, memory=100_000, store=store, progress=lambda step, done, total: steps.append(done)
    )
    assert_best(found, images, captions, 10)
    if lives >= 2 and make is with_duplicates:
        assert steps[0] > len(captions) * 30 * (lives // 2)  # strips are of 31 images


def test_a_lost_strip_is_searched_again():
    images, captions = random(np.random.default_rng(9))
    store = Memory(lives=10_000)
    bidirectional_topk(images, captions, 10, memory=100_000, store=store)
    del store["rows-0"]
    assert_best(bidirectional_topk(images, captions, 10, memory=100_000, store=store), images, captions, 10)


def test_one_direction_may_ask_for_all_items():
    queries, items = np.eye(2, 3), np.arange(15.0).reshape(5, 3)
    indices, scores = topk_of_products(queries, items, 5)
    assert indices.tolist() == [[4, 3, 2, 1, 0]] * 2
    assert scores[0].tolist() == [12, 9, 6, 3, 0]


@pytest.mark.parametrize("make", HARD, ids=lambda make: make.__name__)
def test_one_direction_agrees_with_the_float64_product(make, first_pass):
    queries, items = make(np.random.default_rng(10))
    best = slow_topk(slow_product(queries, items), 7)
    np.testing.assert_array_equal(topk_of_products(queries, items, 7)[0], best)


@pytest.mark.parametrize("memory", [5_000, 20_000, 2**20])
def test_scores_computed_block_by_block_give_the_same(memory):
    scores = np.random.default_rng(0).integers(-2, 3, (213, 317)).astype(np.float32) * -(0.0 ** np.arange(317))
    scores += np.random.default_rng(1).integers(-2, 3, scores.shape)
    by_row, by_column = bidirectional_topk_of_scores(lambda r, c: scores[r, c], scores.shape, 16, memory=memory)
    np.testing.assert_array_equal(by_row.places, slow_topk(scores, 16))
    np.testing.assert_array_equal(by_column.places, slow_topk(scores.T, 16))
    np.testing.assert_array_equal(by_row.scores, np.take_along_axis(scores, by_row.places, 1))
    one_way, _ = topk_of_scores(lambda r, c: scores[r, c], scores.shape, 16, memory=memory)
    np.testing.assert_array_equal(one_way, by_row.places)


def test_every_block_of_scores_is_computed_once():
    asked = np.zeros((213, 317), int)

    def score(rows, columns):
        asked[rows, columns] += 1
        return np.zeros((rows.stop - rows.start, columns.stop - columns.start))

    bidirectional_topk_of_scores(score, asked.shape, 5, memory=20_000)
    assert (asked == 1).all()


def test_a_pair_of_several_embeddings_scores_as_its_best_two():
    rng = np.random.default_rng(11)
    images, captions = rng.integers(-3, 4, (50, 2, 6)), rng.integers(-3, 4, (80, 3, 6))
    found = bidirectional_topk(images, captions, 5)
    scores = np.einsum("nad,mbd->nmab", images, captions).max(axis=(2, 3))
    np.testing.assert_array_equal(found.i2t_indices, slow_topk(scores, 5))
    np.testing.assert_array_equal(found.t2i_indices, slow_topk(scores.T, 5))


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
        (np.full((3, 2, 2), np.nan), GOOD, 1, "3 rows of images hold NaN or infinity; the first is row 0"),
        (GOOD, np.array([["a", "b"]]), 1, "captions must be real numbers"),
        (GOOD, GOOD.astype(complex), 1, "captions must be real numbers"),
        (GOOD, GOOD.astype(bool), 1, "captions must be real numbers"),
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
