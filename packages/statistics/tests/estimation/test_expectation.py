"""Metrics of padded pools and their expectation: against the metrics of rankings, and against every possible label."""

from itertools import product
from time import process_time

import numpy as np
import pytest

from counterpart_metrics import ALL_METRICS, Qrels, Rankings, find
from counterpart_statistics.estimation import METRICS, UNLISTED, expected_mean, expected_metric, pool_metrics


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def drawn_ranks(rng, models=3, queries=20, pairs=8):
    ranks = np.stack([[rng.permutation(12)[:pairs] + 1 for _ in range(queries)] for _ in range(models)])
    return np.where(ranks > 10, UNLISTED, ranks)


def test_metrics_of_a_pool_are_those_of_its_rankings(rng):
    ranks = drawn_ranks(rng)
    gains = rng.choice([0, 0, 0.5, 1], ranks.shape[1:])
    gains[0] = 0
    found = pool_metrics(ranks, gains)
    qrels = Qrels.of({query: dict(enumerate(row)) for query, row in enumerate(gains.tolist())})
    for model, of_model in enumerate(ranks):
        lists = np.full((len(of_model), 10), -1)
        other = 100  # items of the list that are not in the pool
        for query, row in enumerate(of_model.tolist()):
            lists[query] = np.arange(other, other + 10)
            for pair, rank in enumerate(row):
                if rank <= 10:
                    lists[query, rank - 1] = pair
        ranked = find(Rankings(np.arange(len(lists)), lists), qrels)
        for name, values in zip(METRICS, found[:, model], strict=True):
            np.testing.assert_allclose(values, np.nan_to_num(ALL_METRICS[name](ranked)), atol=1e-12, err_msg=name)


def test_a_case_worked_by_hand():
    # Matches at ranks 1 and 3 of R = 2: only the first counts, so mAP@R and R-Precision are a half.
    assert pool_metrics([[[1, 2, 3]]], [[1, 0, 1]])[:3, 0, 0].tolist() == [0.5, 0.5, 1.0]
    # A partial match before a full one: gains 0.5 and 1.5 of 1 and 1.5.
    assert pool_metrics([[[1, 2]]], [[0.5, 1]])[3, 0, 0] == 0.75


def test_ranks_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="do not have the shape"):
        pool_metrics([[1, 2]], [[1, 0]])


def every_labelling(p, known):
    """Yield each labelling of a query's pairs with its probability; ``p`` (J, 2) of a match and of a full match."""
    unknown = np.flatnonzero(np.isnan(known))
    chances = [{0.0: 1 - any_, 0.5: any_ - full, 1.0: full} for any_, full in p[unknown]]
    for labels in product(*chances):
        gains = known.copy()
        gains[unknown] = labels
        yield gains, float(np.prod([chance[label] for chance, label in zip(chances, labels, strict=True)]))


def test_expected_metrics_and_slopes_are_those_over_all_labellings(rng):
    """T1: 3^6 labellings of two levels against many draws; the slopes against the same sums with one label forced."""
    ranks = drawn_ranks(rng, queries=2)
    known = np.full(ranks.shape[1:], np.nan)
    known[:, 0] = 1
    known[:, 7] = 0
    p = np.stack([rng.uniform(0.2, 0.9, known.shape)] * 2, axis=-1)
    p[..., 1] *= rng.uniform(0.2, 0.9, known.shape)
    found = expected_metric(ranks, p, known, 0.0, draws=20_000)
    for query in range(2):
        true = sum(
            pool_metrics(ranks[:, [query]], gains[None]) * chance
            for gains, chance in every_labelling(p[query], known[query])
        )
        np.testing.assert_allclose(found.mean[:, :, query], true[:, :, 0], atol=0.015)
    forced = []
    for gain in (0.0, 0.5, 1.0):
        given = known[0].copy()
        given[3] = gain
        forced.append(
            sum(
                pool_metrics(ranks[:, [0]], gains[None])[:, :, 0] * chance
                for gains, chance in every_labelling(p[0], given)
            )
        )
    np.testing.assert_allclose(found.slopes[:, :, 0, 3], np.diff(forced, axis=0).transpose(1, 2, 0), atol=0.015)
    assert (found.slopes[:, :, :, [0, 7]] == 0).all()


def test_yes_and_no_alone_are_the_case_of_one_threshold(rng):
    ranks = drawn_ranks(rng, queries=4)
    known = np.full(ranks.shape[1:], np.nan)
    p = rng.uniform(0.1, 0.9, known.shape)
    one = expected_metric(ranks, p, known, 0.7, seed=3)
    two = expected_metric(ranks, np.stack([p, p], axis=-1), known, 0.7, seed=3)
    np.testing.assert_allclose(one.mean, two.mean)
    np.testing.assert_allclose(one.slopes[..., 0], two.slopes.sum(axis=-1))
    np.testing.assert_allclose(one.mean[0], one.mean[3])  # all gains are 1 or 0


def test_labels_that_are_all_known_leave_nothing_to_expect(rng):
    """T2: no judgment is left to buy."""
    ranks = drawn_ranks(rng)
    gains = rng.choice([0, 0.5, 1], ranks.shape[1:])
    found = expected_metric(ranks, np.full(gains.shape, 0.5), gains, 1.0)
    np.testing.assert_allclose(found.mean, pool_metrics(ranks, gains), atol=1e-12)
    assert not found.slopes.any()
    assert found.curvature.max() < 1e-20


def test_a_metric_that_is_linear_in_the_labels_has_no_curvature(rng):
    ranks = drawn_ranks(rng)
    known = np.full(ranks.shape[1:], np.nan)
    found = expected_metric(ranks, np.full(known.shape, 0.4), known, 0.5)
    assert found.curvature[METRICS.index("R@1")].max() < 1e-20
    assert found.curvature[METRICS.index("mAP@R")].max() > 1e-4


@pytest.mark.parametrize("draws", [0, 3])
def test_an_odd_number_of_draws_is_refused(draws):
    with pytest.raises(ValueError, match="use an even number"):
        expected_metric([[[1]]], [[0.5]], [[np.nan]], 0.0, draws=draws)


def test_the_mean_alone_is_the_same_to_the_bit_for_a_small_part_of_the_work(rng):
    ranks = rng.permuted(np.broadcast_to(np.arange(1, 60), (10, 400, 59)), axis=2)[..., :17]
    known = np.full((400, 17), np.nan)
    known[:, 0] = 1
    p = np.sort(rng.uniform(0.05, 0.6, (400, 17, 2)), axis=2)[..., ::-1]
    for thresholds in (p, p[..., 0]):
        both = []
        for expected in (expected_mean, expected_metric):
            expected(ranks[:, :1], thresholds[:1], known[:1], 0.8)  # compiles
            begun = process_time()
            both.append((expected(ranks, thresholds, known, 0.8, seed=4), process_time() - begun))
        (mean, fast), (all_of_it, slow) = both
        np.testing.assert_array_equal(mean, all_of_it.mean)
        assert fast < slow / 5


@pytest.mark.slow
def test_25_models_on_2600_queries_take_less_than_a_minute_of_one_core(rng):
    """T10, on a fifth of the queries, which are worked on one by one, in a fifth of the time."""
    ranks = rng.permuted(np.broadcast_to(np.arange(1, 60), (25, 520, 59)), axis=2)[..., :17]
    known = np.full((520, 17), np.nan)
    known[:, 0] = 1
    p = rng.uniform(0.05, 0.6, known.shape)
    expected_metric(ranks[:, :1], p[:1], known[:1], 0.8)  # compiles
    begun = process_time()
    expected_metric(ranks, p, known, 0.8)
    assert process_time() - begun < 60 / 5


@pytest.mark.parametrize(
    ("ranks", "gains", "message"),
    [
        ([[[0, 1]]], [[1, 0]], "Rank 0: ranks count from 1."),
        ([[[2, 2]]], [[1, 0]], "Rank 2 is that of several items of one list: break ties first."),
        ([[[1, 2]]], [[1, np.nan]], "Every gain must be a number from 0 to 1."),
    ],
)
def test_ranks_that_no_list_has_and_gains_that_are_no_gains_are_refused(ranks, gains, message):
    with pytest.raises(ValueError, match=message):
        pool_metrics(ranks, gains)
