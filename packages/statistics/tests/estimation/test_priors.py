"""Labels that are simulated from priors: their rate, who knows more, and what is known already."""

import numpy as np
import pytest

from benchmarks.estimation.beds import synthetic_bed
from counterpart_statistics.estimation import UNLISTED, front, prior_probability, simulated_gains


@pytest.fixture(scope="module")
def bed():
    return synthetic_bed(queries=200, items=300)


def prior(bed, **given):
    ranks = bed.ranks[: len(bed.scores)]
    return prior_probability(ranks, bed.asked, **{"top": 5, "rate": 0.2, "rank_effect": 0.5, **given})


def test_the_mean_probability_of_the_asked_pairs_is_the_stated_rate(bed):
    for rate in (0.02, 0.2, 0.9):
        p = prior(bed, rate=rate)
        assert p[bed.asked].mean() == pytest.approx(rate)
        assert (p[~bed.asked] == 0).all()


def test_odds_fall_with_the_best_rank_and_rise_with_the_annotators():
    ranks = np.array([[[1, 2, 1, UNLISTED]], [[9, 9, 3, 2]]])
    (p,) = prior_probability(ranks, np.ones((1, 4), bool), top=5, rate=0.3, rank_effect=1.0)
    odds = p / (1 - p)
    assert odds / odds[0] == pytest.approx([1, 1 / 2, 2, 1 / 2])  # annotators by best rank: 1/1, 1/2, 2/1, 1/2


def test_without_an_effect_every_pair_is_as_probable(bed):
    assert prior(bed, rank_effect=0.0)[bed.asked] == pytest.approx(0.2)


def test_simulated_labels_keep_what_is_known_and_match_at_the_rate(bed):
    gains = simulated_gains(prior(bed), bed.known, seed=1)
    assert (gains[~bed.asked] == bed.known[~bed.asked]).all()
    assert (gains[bed.asked] > 0).mean() == pytest.approx(0.2, abs=0.03)
    assert set(np.unique(gains[bed.asked])) == {0.0, 0.5, 1.0}
    assert (simulated_gains(prior(bed), bed.known, seed=1) == gains).all()


def test_queries_are_easier_and_harder_with_a_query_effect(bed):
    def spread(tau):
        found = np.where(bed.asked, simulated_gains(prior(bed), bed.known, tau=tau) > 0, np.nan)
        return np.nanmean(found, axis=1).std()

    assert spread(2.0) > 1.3 * spread(0.0)


def test_nothing_to_ask_has_no_probability():
    assert (prior_probability(np.ones((1, 2, 3)), np.zeros((2, 3), bool), top=5, rate=0.2, rank_effect=1.0) == 0).all()


def test_the_front_has_the_designs_that_no_other_beats():
    costs, widths = [1, 2, 2, 3, 4, 4], [0.5, 0.4, 0.3, 0.35, 0.1, 0.1]
    assert front(costs, widths).tolist() == [True, False, True, False, True, True]
