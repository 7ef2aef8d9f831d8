import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from counterpart_topk.hubness import (
    Computed,
    Matrix,
    Products,
    Transposed,
    matching,
    relaxed_greedy_matching,
    scored_matching,
)
from slow_hubs import slow_matching

INFINITY = float("inf")
# Few different whole numbers, so that most scores are equal.
tied = st.sampled_from([np.float32, np.float64]).flatmap(
    lambda dtype: arrays(
        dtype,
        array_shapes(min_dims=2, max_dims=2, max_side=12),
        elements=st.sampled_from([0, 1, 2, 3, -np.inf]),
    )
)


def test_the_example_holds():
    assert doctest.testmod(matching).failed == 0


@settings(deadline=None, max_examples=60)
@given(
    tied,
    st.integers(1, 5),
    st.sampled_from([0, 0.3, 0.5, 1, 1.5, 2, 5, INFINITY]),
    st.sampled_from([1, 300, 3_000, 2**20]),
)
def test_matching_agrees_with_the_walk_over_all_sorted_scores(similarity, k, relaxation, memory):
    found = relaxed_greedy_matching(similarity, k, relaxation, memory=memory)
    assert found.tolist() == slow_matching(similarity, k, relaxation)


@pytest.mark.shared
@pytest.mark.parametrize("direction", ["rows", "columns"])
@pytest.mark.parametrize("k", [1, 5, 10])
@pytest.mark.parametrize("relaxation", ["1", "1.5", "2", "inf"])
def test_matching_agrees_with_the_papers_fixture(shared, direction, k, relaxation):
    fixture = np.load(shared / "fixtures/annotators/hubs_paper.npz")
    similarity = fixture["similarity"] if direction == "rows" else fixture["similarity"].T
    found = relaxed_greedy_matching(similarity, k, float(relaxation))
    np.testing.assert_array_equal(found, fixture[f"rgm_{direction}_k{k}_lambda{relaxation}"])


@pytest.mark.shared
@pytest.mark.parametrize(("row_cap", "column_cap"), [(1, 1), (5, 1), (10, 2), (3, 4)])
def test_matching_agrees_with_the_fixture_of_other_caps(shared, row_cap, column_cap):
    fixture = np.load(shared / "fixtures/annotators/hubness.npz")
    found = relaxed_greedy_matching(fixture["similarity"], row_cap, column_cap / row_cap)
    np.testing.assert_array_equal(found, fixture[f"greedy_pairs_image_cap{row_cap}_text_cap{column_cap}"])


def test_a_case_worked_by_hand():
    # Column 0 is everybody's best. It takes one query (cap 1), and the others go on to their second choice.
    hub = [[0.9, 0.5, 0.1], [0.8, 0.6, 0.3], [0.7, 0.2, 0.4]]
    assert relaxed_greedy_matching(hub, 1, 1).tolist() == [[0, 0], [1, 1], [2, 2]]
    # With cap 2 it takes two, and the third query still has to go elsewhere.
    assert relaxed_greedy_matching(hub, 1, 2).tolist() == [[0, 0], [1, 0], [2, 2]]


def test_the_end_of_the_scores_ends_the_matching():
    # Cap round(0.4 x 2) = 1: three columns are full after three pairs, of the four wanted.
    assert len(relaxed_greedy_matching(np.arange(6.0).reshape(2, 3), 2, 0.4)) == 3


def test_halves_are_rounded_to_even():
    # round(0.5 x 5) = 2, not 3.
    found = relaxed_greedy_matching(np.ones((8, 2)), 5, 0.5)
    assert np.bincount(found[:, 1]).tolist() == [2, 2]


@pytest.mark.parametrize("columns", [20, 60])
def test_without_a_bound_on_items_it_is_nearest_neighbour_search(columns):
    similarity = np.random.default_rng(1).normal(size=(20, columns))
    found = relaxed_greedy_matching(similarity, 4, INFINITY)
    nearest = np.argsort(-similarity, axis=1)[:, :4]
    assert [sorted(found[found[:, 0] == i, 1]) for i in range(20)] == [sorted(row) for row in nearest]


@pytest.mark.parametrize("relaxation", [1, 2])
@pytest.mark.parametrize("alike", ["rows", "columns", "all"])
def test_queries_that_all_want_the_same_are_served_exactly(relaxation, alike):
    n, m = 30, 90
    shape = {"rows": np.arange(m)[None, :], "columns": np.arange(n)[:, None], "all": np.zeros((1, 1))}[alike]
    similarity = np.broadcast_to(shape, (n, m)).astype(np.float32)
    found = relaxed_greedy_matching(similarity, 3, relaxation, memory=8_000)
    assert found.tolist() == slow_matching(similarity, 3, relaxation)


@pytest.mark.parametrize("direction", ["rows", "columns"])
def test_strong_hubs_need_several_passes_and_are_matched_exactly(direction):
    rng = np.random.default_rng(4)
    queries, items = rng.normal(size=(120, 8)), rng.normal(size=(500, 8))
    # A ninth dimension makes some items near to everybody.
    queries, items = np.c_[queries, np.full(120, 4)], np.c_[items, rng.normal(size=500)]
    blocks = Products(queries, items) if direction == "rows" else Products(items, queries)
    passes = []
    found = relaxed_greedy_matching(blocks, 5, 1, progress=lambda step, done, total: passes.append(done == total))
    scores = blocks.block(slice(0, blocks.shape[0]), slice(0, blocks.shape[1]))
    assert found.tolist() == slow_matching(scores, 5, 1)
    assert sum(passes) > 1 or direction == "columns"


@pytest.mark.parametrize("memory", [2_000, 10_000, 2**20])
def test_embeddings_are_matched_block_by_block_and_from_either_side(memory):
    rng = np.random.default_rng(2)
    queries, items = rng.integers(-3, 4, (40, 6)), rng.integers(-3, 4, (70, 6))
    for blocks, scores in (
        (Products(queries, items), queries @ items.T),
        (Transposed(Products(queries, items)), items @ queries.T),
    ):
        pairs, found = scored_matching(blocks, 3, 1.5, memory=memory)
        assert pairs.tolist() == slow_matching(scores, 3, 1.5)
        np.testing.assert_array_equal(found, scores[pairs[:, 0], pairs[:, 1]])


def test_progress_is_reported():
    reported = []
    relaxed_greedy_matching(np.eye(4), 1, 1, progress=lambda step, done, total: reported.append((done, total)))
    assert reported[-1] == (4, 4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: relaxed_greedy_matching(np.eye(3), 0, 1), "at least once, not 0"),
        (lambda: relaxed_greedy_matching(np.eye(3), 1, -1), "0 or more, not -1"),
        (lambda: relaxed_greedy_matching(np.eye(3), 1, float("nan")), "0 or more, not nan"),
        (lambda: relaxed_greedy_matching(np.ones((0, 3)), 1, 1), "N, M >= 1"),
        (lambda: relaxed_greedy_matching([[1.0, np.nan]], 1, 1), "NaN"),
        (lambda: relaxed_greedy_matching(Computed((2, 2), lambda r, c: np.ones((1, 2))), 1, 1), "instead of"),
        (lambda: Products(np.eye(3), np.eye(2)), r"not \(3, 3\) and \(2, 2\)"),
        (lambda: Matrix(np.array([[1j]])), "real numbers"),
    ],
)
def test_matching_refuses_what_cannot_be_matched(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
