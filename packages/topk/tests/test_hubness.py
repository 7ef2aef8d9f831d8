import doctest
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from counterpart_topk.hubness import (
    Csls,
    LogInvertedSoftmax,
    Matrix,
    corrections,
    csls,
    hs_sum,
    inverted_softmax,
    k_occurrence,
    skewness,
)
from slow_hubs import slow_csls, slow_inverted_softmax

# Small whole quarters: sums and means of them are exact, and many are equal.
quarters = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(-4, 4)).map(
    lambda whole: whole / 4
)
memories = st.sampled_from([1, 400, 2**20])


@pytest.fixture(scope="module")
def hubness(shared):
    return np.load(shared / "fixtures/annotators/hubness.npz")


@pytest.fixture(scope="module")
def hubs_paper(shared):
    return np.load(shared / "fixtures/annotators/hubs_paper.npz")


def whole(blocks) -> np.ndarray:
    return blocks.block(slice(0, blocks.shape[0]), slice(0, blocks.shape[1]))


def test_the_examples_hold():
    assert doctest.testmod(corrections).failed == 0


def best_columns(similarity: np.ndarray, k: int) -> np.ndarray:
    return np.argsort(-similarity, axis=1, kind="stable")[:, :k]


# Counts


def test_an_item_counts_once_for_every_list_it_is_in():
    assert k_occurrence([[0, 2], [2, 3], [2, -1]], 5).tolist() == [1, 0, 3, 1, 0]


@pytest.mark.shared
@pytest.mark.parametrize("k", [1, 10])
def test_k_occurrence_agrees_with_the_fixture(hubness, k):
    similarity = hubness["similarity"]
    np.testing.assert_array_equal(k_occurrence(best_columns(similarity, k), 300), hubness[f"caption_k_occurrence_k{k}"])
    np.testing.assert_array_equal(k_occurrence(best_columns(similarity.T, k), 60), hubness[f"image_k_occurrence_k{k}"])


@pytest.mark.shared
@pytest.mark.parametrize("k", [1, 5, 10])
def test_skewness_agrees_with_the_fixture(hubs_paper, k):
    found = k_occurrence(best_columns(hubs_paper["similarity"], k), 120)
    np.testing.assert_array_equal(found, hubs_paper[f"k_occurrence_rows_k{k}"])
    assert skewness(found) == pytest.approx(float(hubs_paper[f"skewness_rows_k{k}"]), rel=1e-9)


def test_skewness_of_a_symmetric_distribution_is_zero():
    assert skewness([1, 2, 3]) == 0


def test_equal_counts_have_no_skewness():
    assert skewness([7, 7, 7]) == 0
    assert skewness([0.1, 0.1, 0.1]) == 0


def test_hs_sum_adds_depths_and_directions():
    one, other = np.array([[0, 1, 2], [0, 2, 1]]), np.array([[0, 1, 2], [1, 0, 3]])
    by_hand = sum(skewness(k_occurrence(lists[:, :k], 4)) for lists in (one, other) for k in (1, 3))
    assert hs_sum([(one, 4), (other, 4)], depths=(1, 3)) == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: k_occurrence([[0, 4]], 4), "1 places in the lists are outside the gallery of 4 items"),
        (lambda: k_occurrence([0, 1], 4), "shape"),
        (lambda: k_occurrence([[0.5]], 4), "whole numbers"),
        (lambda: skewness([]), "one or more counts"),
        (lambda: skewness([1, np.nan]), "finite"),
        (lambda: hs_sum([([[0, 1]], 2)]), "not 5 places deep"),
    ],
)
def test_counts_refuse_what_has_none(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


# Inverted softmax


@pytest.mark.shared
@pytest.mark.parametrize("beta", [10, 30])
def test_the_inverted_softmax_agrees_with_the_fixture_in_both_directions(hubness, beta):
    similarity = hubness["similarity"]
    for found, name in ((inverted_softmax(similarity, beta), "i2t"), (inverted_softmax(similarity.T, beta).T, "t2i")):
        np.testing.assert_allclose(found, hubness[f"inverted_softmax_{name}_beta{beta}"], rtol=1e-9, atol=1e-9)


@pytest.mark.shared
def test_leaving_the_query_out_agrees_with_the_fixture(hubs_paper):
    found = inverted_softmax(hubs_paper["similarity"], 30, leave_one_out=True)
    np.testing.assert_allclose(found, hubs_paper["inverted_softmax_rows_leave_one_out_beta30"], rtol=1e-9)


@settings(deadline=None, max_examples=60)
@given(quarters.filter(lambda similarity: len(similarity) > 1), st.booleans(), memories)
def test_the_inverted_softmax_agrees_with_its_definition_however_it_is_cut(similarity, leave_one_out, memory):
    blocks = LogInvertedSoftmax(Matrix(similarity), 7, leave_one_out=leave_one_out, memory=memory)
    slow = slow_inverted_softmax(similarity, 7, leave_one_out)
    np.testing.assert_allclose(np.exp(whole(blocks)), slow, rtol=1e-12)
    np.testing.assert_allclose(inverted_softmax(similarity, 7, leave_one_out), slow, rtol=1e-12)


def test_leaving_out_the_query_that_dominates_the_sum_loses_no_digits():
    similarity, getcontext().prec = [[1.0], [0.0], [0.25]], 60
    terms = [(Decimal(30) * Decimal(row[0])).exp() for row in similarity]
    exact = [float(term / (sum(terms) - term)) for term in terms]
    np.testing.assert_allclose(inverted_softmax(similarity, 30, leave_one_out=True)[:, 0], exact, rtol=1e-13)


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_scores_far_from_zero_neither_overflow_nor_vanish(leave_one_out):
    found = inverted_softmax(np.array([[0.3], [0.1]]) + 1e4, 30, leave_one_out)
    np.testing.assert_allclose(found, inverted_softmax([[0.3], [0.1]], 30, leave_one_out), rtol=1e-9)


def test_leaving_the_query_out_changes_no_order():
    similarity = np.random.default_rng(0).normal(size=(9, 30)) / 5
    plain, left_out = (inverted_softmax(similarity, 30, leave) for leave in (False, True))
    np.testing.assert_array_equal(np.argsort(plain.ravel()), np.argsort(left_out.ravel()))


# CSLS


@pytest.mark.shared
@pytest.mark.parametrize("k", [1, 5, 10])
def test_csls_agrees_with_the_fixture(hubness, k):
    np.testing.assert_allclose(csls(hubness["similarity"], k), hubness[f"csls_k{k}"], atol=1e-9)
    blocks = Csls(Matrix(hubness["similarity"]), k, memory=5_000)
    np.testing.assert_allclose(blocks.row_means, hubness[f"csls_image_mean_k{k}"], atol=1e-9)
    np.testing.assert_allclose(blocks.column_means, hubness[f"csls_text_mean_k{k}"], atol=1e-9)


@settings(deadline=None, max_examples=60)
@given(quarters, memories, st.data())
def test_csls_agrees_with_its_definition_however_it_is_cut(similarity, memory, data):
    k = data.draw(st.integers(1, min(similarity.shape)))
    np.testing.assert_allclose(csls(similarity, k), slow_csls(similarity, k), atol=1e-12)
    np.testing.assert_array_equal(whole(Csls(Matrix(similarity), k, memory=memory)), csls(similarity, k))


def test_the_querys_own_term_changes_no_ranking_of_csls():
    similarity = np.random.default_rng(0).normal(size=(12, 30))
    without = 2 * similarity - np.sort(similarity, axis=0)[-5:].mean(0)
    np.testing.assert_array_equal(np.argsort(csls(similarity, 5)), np.argsort(without))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: csls(np.ones((3, 5)), 4), "between 1 and 3"),
        (lambda: csls(np.ones(3), 1), "shape"),
        (lambda: csls([[np.nan, 1.0]], 1), "NaN; the first is row 0"),
        (lambda: inverted_softmax(np.ones((2, 2)), 0), "above 0"),
        (lambda: inverted_softmax(np.ones((1, 2)), leave_one_out=True), "at least two queries"),
        (lambda: inverted_softmax([[np.inf], [1.0]]), "finite"),
        (lambda: inverted_softmax([["a"]]), "real numbers"),
    ],
)
def test_corrections_refuse_what_they_cannot_correct(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()
