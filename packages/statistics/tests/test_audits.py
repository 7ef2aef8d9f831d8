"""Audits: an order of whole queries that can be continued, and probabilities that are true."""

import numpy as np
import pytest

from counterpart_statistics.estimation import audit_order, inclusion_of, pair_inclusion


def test_the_order_is_that_of_the_seed_and_the_ids_whatever_order_they_come_in():
    ids = np.array([40, 10, 30, 20])
    order, share = audit_order(ids, 7)
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    np.testing.assert_array_equal(ids[order], np.sort(ids)[audit_order(np.sort(ids), 7).order])
    assert share.tolist() == [0.25] * 4
    assert any((audit_order(ids, seed).order != order).any() for seed in range(5))


def test_queries_are_audited_as_often_as_their_weights_say():
    weights = np.tile([1.0, 1.0, 2.0, 0.5, 1.5, 2.0, 1.0, 1.0], 5)
    chosen = np.zeros(40)
    for seed in range(4000):
        order, share = audit_order(np.arange(40), seed, weights)
        chosen[order[:12]] += 1
    np.testing.assert_allclose(chosen / 4000, inclusion_of(share, 12), atol=0.03)


def test_probabilities_are_proportional_capped_and_sum_to_the_audit():
    share = np.array([0.7, 0.1, 0.1, 0.1])
    np.testing.assert_allclose(inclusion_of(share, 1), share)
    np.testing.assert_allclose(inclusion_of(share, 2), [1, 1 / 3, 1 / 3, 1 / 3])
    assert inclusion_of(share, 4).tolist() == [1] * 4


def test_repeated_queries_and_weights_of_zero_are_refused():
    with pytest.raises(ValueError, match="1 query ids are repeated"):
        audit_order([1, 1, 2], 0)
    with pytest.raises(ValueError, match="weight above 0"):
        audit_order([1, 2], 0, [1.0, 0.0])


def test_pairs_that_matter_more_and_are_less_certain_are_asked_more_often():
    slopes = np.array([[[0.4, 0.2, 0.2, 0.0]]])
    p = np.array([[0.5, 0.5, 0.0, 0.5]])
    found = pair_inclusion(slopes, p, np.array([1.0]), 1.0)
    # s = 0.2, 0.1, 0; their mean 0.1; shares 1.85, 1, 0.15 of 3
    np.testing.assert_allclose(found, [[1.85 / 3, 1 / 3, 0, 0.05]])
    assert pair_inclusion(slopes, p, np.array([1.0]), 5.0).tolist() == [[1, 1, 0, 1]]
