import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from counterpart_statistics.rank_agreement import first_place_ranks, rank_correlations


def lists_of(rng: np.random.Generator, annotators: int, queries: int, k: int, items: int) -> np.ndarray:
    return np.array([[rng.permutation(items)[:k] + 1 for _ in range(queries)] for _ in range(annotators)])


def slow_tau(one: list[int], other: list[int], absent: str) -> float:
    items = sorted((set(one) | set(other) if absent == "last" else set(one) & set(other)) - {0})
    ranks = [[ranked.index(item) if item in ranked else len(ranked) for item in items] for ranked in (one, other)]
    return kendalltau(*ranks).statistic if len(items) > 1 else float("nan")


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**31), st.integers(1, 8), st.integers(0, 8), st.sampled_from(["last", "left-out"]))
def test_correlations_agree_with_another_implementation(seed, k, more, absent):
    lists = lists_of(np.random.default_rng(seed), 2, 3, k, k + more)
    found = rank_correlations(lists, absent=absent)[0, 1]
    slow = [slow_tau(one, other, absent) for one, other in zip(*lists.tolist(), strict=True)]
    if np.isnan(slow).all():
        assert np.isnan(found)
    else:
        assert found == pytest.approx(np.nanmean(slow))


def test_equal_lists_correlate_fully_and_reversed_ones_not_at_all():
    found = rank_correlations([[[1, 2, 3]], [[1, 2, 3]], [[3, 2, 1]]])
    np.testing.assert_allclose(found, [[1, 1, -1], [1, 1, -1], [-1, -1, 1]])


def test_absent_items_rank_together_behind_the_list():
    # Union 1, 2, 3: ranks 1, 2, 3 and 1, 3, 2. Two pairs agree, one does not; none is tied.
    assert rank_correlations([[[1, 2]], [[1, 3]]])[0, 1] == pytest.approx(1 / 3)
    # Union 1, 2, 3, 4: ranks 1, 2, 3, 3 and 3, 3, 1, 2. Four of six pairs disagree, one is tied in each list.
    assert rank_correlations([[[1, 2]], [[3, 4]]])[0, 1] == pytest.approx(-4 / 5)


def test_absent_items_may_be_left_out():
    lists = [[[1, 2, 3]], [[1, 9, 3]]]
    assert rank_correlations(lists, absent="left-out")[0, 1] == 1
    assert first_place_ranks(lists, absent="left-out")[0, 1] == 1


def test_a_query_that_defines_no_correlation_is_left_out_of_the_mean():
    found = rank_correlations([[[1, 2], [5, 6]], [[2, 1], [7, 8]]], absent="left-out")
    assert found[0, 1] == -1
    assert np.isnan(rank_correlations([[[1]], [[1]]])[0, 1])


def test_a_row_has_the_ranks_of_its_first_item_by_others():
    lists = [[[1, 2, 3], [4, 5, 6]], [[2, 1, 3], [6, 5, 9]]]
    # The first annotator's 1 is second there, its 4 nowhere (4); the other's 2 second here, its 6 third.
    np.testing.assert_allclose(first_place_ranks(lists), [[1, 3], [2.5, 1]])
    np.testing.assert_allclose(first_place_ranks(lists, absent="left-out"), [[1, 2], [2.5, 1]])


def test_places_that_fill_up_shorter_lists_are_no_items():
    lists = [[[1, 2, 0]], [[2, 1, 0]]]
    assert rank_correlations(lists)[0, 1] == -1
    assert first_place_ranks([[[1, 0]], [[0, 0]]])[0, 1] == 3
    assert np.isnan(first_place_ranks([[[1, 0]], [[0, 0]]])[1, 0])


def test_an_annotator_agrees_with_itself():
    lists = lists_of(np.random.default_rng(0), 3, 20, 10, 15)
    np.testing.assert_array_equal(np.diag(rank_correlations(lists)), 1)
    np.testing.assert_array_equal(np.diag(first_place_ranks(lists)), 1)


@pytest.mark.parametrize("figure", [rank_correlations, first_place_ranks])
@pytest.mark.parametrize(
    ("lists", "absent", "message"),
    [
        ([[1, 2]], "last", "annotators, queries, k"),
        ([[[1.5, 2]]], "last", "whole numbers"),
        (np.empty((2, 0, 5), dtype=int), "last", "annotators, queries, k"),
        ([[[1, 2]]], "ignored", "Unknown policy 'ignored' for absent items; choose last or left-out"),
    ],
)
def test_invalid_lists_are_refused(figure, lists, absent, message):
    with pytest.raises(ValueError, match=message):
        figure(lists, absent=absent)
