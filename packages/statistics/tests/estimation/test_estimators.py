"""Estimates from audited queries: exact where all are audited, unbiased over all audits, and refusals."""

from itertools import combinations

import numpy as np
import pytest

from counterpart_statistics.estimation import (
    Estimate,
    estimate,
    estimate_difference,
    estimate_two_phase,
    guard_report,
    score_interval,
)

M = np.array([0.2, 0.9, 0.4, 0.7, 0.1, 0.8, 0.5, 0.6])
G = np.array([0.3, 0.8, 0.5, 0.5, 0.2, 0.9, 0.3, 0.7])


def test_an_audit_of_every_query_is_the_whole_round():
    """T2."""
    found = estimate(M, G, np.ones(8, bool), 1.0)
    assert found.value == pytest.approx(M.mean(), abs=1e-12)
    assert (found.n_audited, found.question) == (8, "like")
    assert found.low < found.value < found.high


@pytest.mark.parametrize("beta", [0.0, 0.7, 1.0])
def test_the_mean_over_all_audits_of_four_of_eight_queries_is_the_truth(beta):
    """T3, with a weight that is fixed beforehand."""
    values = []
    for chosen in combinations(range(8), 4):
        audited = np.isin(np.arange(8), chosen)
        values.append(estimate(M, G, audited, 0.5, beta=beta).value)
    assert np.mean(values) == pytest.approx(M.mean(), abs=1e-12)


def test_the_value_is_the_formula_written_out_for_even_and_uneven_audits():
    """E(6), as it was before the intervals changed."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        m = rng.random(40)
        g = rng.random(40)
        a = rng.uniform(0.2, 1, 40) if seed % 2 else np.full(40, 0.4)
        audited = rng.random(40) < a
        h = audited * (1 / a) * (1 / a - 1)
        design = np.stack([g, np.ones(40)], axis=1) * np.sqrt(h)[:, None]
        beta, c = np.linalg.lstsq(design, m * np.sqrt(h), rcond=None)[0]
        e = beta * g + c + audited / a * (m - beta * g - c)
        found = estimate(m, g, audited, a, estimand="pool of version v1")
        assert found.value == pytest.approx(np.clip(e.mean(), 0, 1), abs=1e-12)
        assert found.beta == pytest.approx(beta)
    assert found.estimand == "pool of version v1"


def test_an_estimate_is_one_cell_of_the_intervals_of_queries_drawn_like_these():
    audited = np.arange(8) % 2 == 0
    found = estimate(M, G, audited, 0.5, level=0.9)
    interval = score_interval([M, 1 - M], [G, G], audited, 0.5, queries="like", level=0.9)
    assert found == Estimate.of(interval, (0,))
    assert found.is_thin


def test_a_difference_is_estimated_from_the_differences_of_the_queries():
    audited = np.arange(8) % 2 == 0
    found = estimate_difference(1, 0, np.stack([M, M + 0.1]), np.stack([G, G]), audited, 0.5)
    assert found.value == pytest.approx(0.1)
    reversed_ = estimate_difference(0, 1, np.stack([M, M + 0.1]), np.stack([G, G]), audited, 0.5)
    assert (found.low, found.high) == pytest.approx((-reversed_.high, -reversed_.low))
    assert found.low < 0.1 < found.high


def test_two_phase_has_the_truth_as_its_mean_over_all_draws_of_the_audit_and_of_pairs():
    """All 4 audits of 3 queries of 4 and all 2^8 draws of pairs, with a weight that is fixed beforehand."""
    slopes = np.array([[0.2, 0.1], [0.3, 0.2], [0.1, 0.4], [0.2, 0.2]])
    residuals = np.array([[0.5, -0.5], [0.2, -0.3], [-0.5, 0.5], [0.4, 0.1]])
    pi = np.array([[0.5, 0.25], [0.8, 0.5], [0.5, 0.5], [0.4, 0.6]])
    mean = 0.0
    for chosen in combinations(range(4), 3):
        audited = np.isin(np.arange(4), chosen)
        for bits in range(256):
            asked = (bits >> np.arange(8) & 1).reshape(4, 2).astype(bool)
            chance = np.where(asked, pi, 1 - pi).prod() / 4
            one = estimate_two_phase(M[:4], G[:4], slopes, residuals, asked, pi, audited, 0.75, beta=0.8)
            mean += chance * one.value
    assert mean == pytest.approx(M[:4].mean(), abs=1e-9)


def test_pairs_of_all_queries_that_are_certain_to_be_asked_give_the_metric():
    slopes = np.full((8, 2), 0.1)
    residuals = np.linspace(-0.5, 0.5, 16).reshape(8, 2)
    linear = G + (slopes * residuals).sum(axis=1)
    audited = np.arange(8) < 4
    found = estimate_two_phase(linear, G, slopes, residuals, np.ones((8, 2), bool), np.ones((8, 2)), audited, 0.5)
    assert found.value == pytest.approx(linear.mean())
    assert found.error == pytest.approx(linear.std(ddof=1) / np.sqrt(8))


def test_several_metrics_at_once_are_refused():
    with pytest.raises(ValueError, match="must have one axis, of queries"):
        estimate([M, M], [G, G], np.arange(8) < 4, 0.5)


def test_a_pair_that_was_drawn_without_a_probability_is_refused():
    pi = np.zeros((8, 1))
    with pytest.raises(ValueError, match="Every pair that was drawn"):
        estimate_two_phase(M, G, np.ones((8, 1)), np.ones((8, 1)), np.ones((8, 1), bool), pi, np.arange(8) < 4, 0.5)


def test_the_guard_flags_figures_that_chance_does_not_explain():
    estimates = [Estimate(0.5, 0.46, 0.54, 0.02, 1.0, 90), Estimate(0.5, 0.5, 0.5, 0.0, 1.0, 90)]
    small, none = guard_report([0.45, 0.5], estimates)
    assert (small.deviation, small.z) == pytest.approx((-0.05, -2.5))
    assert not small.flagged
    assert (none.z, none.flagged) == (0.0, False)
    large, certain = guard_report([0.4, 0.49], estimates)
    assert large.flagged
    assert (certain.z, certain.flagged) == (-np.inf, True)
    with pytest.raises(ValueError, match="2 estimates"):
        guard_report([0.4], estimates)
