import numpy as np
import pytest

from counterpart_statistics.settling import Packed, look_at
from hits.packing.colouring import pack_pairs


def packed_round(seed, *, queries=120, models=4, capacity=8):
    """A round as packing makes it: the top 3 of models of rising skill, no query twice in a HIT. Returns it with what
    every pair's verdict counts, and the share of each model's first items that match."""
    rng = np.random.default_rng(seed)
    relevant = rng.random((queries, 40)) < 0.15
    lists = [
        np.argsort(-(relevant * skill + rng.normal(size=relevant.shape)), axis=1)[:, :3]
        for skill in np.linspace(0.5, 2.5, models)
    ]
    own = np.arange(queries)[:, None] * 40
    cells = np.unique(np.concatenate([(own + items).ravel() for items in lists]))
    asked, items = np.divmod(cells, 40)
    hits = pack_pairs(asked, items, capacity=capacity, sharing="avoid", rng=rng)
    weights = np.zeros((models, len(cells)))
    for weight, listed in zip(weights, lists, strict=True):
        weight[np.searchsorted(cells, own[:, 0] + listed[:, 0])] = 1 / queries
    values = relevant[asked, items].astype(float)
    truth = np.array([relevant[np.arange(queries), listed[:, 0]].mean() for listed in lists])
    full = int((np.bincount(hits) == capacity).sum())
    return Packed(weights, hits, int(hits.max()) + 1, full), values, truth


def test_a_round_of_two_hits_by_hand():
    # Model 0 has pairs 0 and 2 first, model 1 pairs 1 and 3; two queries, one pair of each model in each HIT.
    packed = Packed(np.array([[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5]]), np.array([0, 0, 1, 1]), n_hits=2, n_full=2)
    after_one = look_at(packed, np.array([1.0, 0, 1, 0]), 1)
    assert after_one.scores.tolist() == [1, 0]
    # The pair seen gave 0.5 of 1, the other may give nothing.
    assert (after_one.low[0], after_one.high[0]) == pytest.approx((0.5, 1.0))
    assert after_one.ahead.tolist() == [[0, 0], [0, 0]]
    assert not after_one.is_settled()
    after_all = look_at(packed, np.array([1.0, 0, 1, 0]), 2)
    assert after_all.ahead.tolist() == [[0, 1], [-1, 0]]
    assert after_all.is_settled()


def test_a_round_that_is_judged_gives_the_scores_themselves():
    packed, values, truth = packed_round(0)
    look = look_at(packed, values, packed.n_hits)
    np.testing.assert_allclose(look.scores, truth)
    np.testing.assert_allclose(look.low, truth, atol=1e-9)
    np.testing.assert_allclose(look.high, truth, atol=1e-9)
    assert look.is_settled()


def test_a_last_hit_that_is_not_full_may_still_be_anything():
    rounds = (packed_round(seed, queries=40) for seed in range(9))
    packed, values, truth = next(one for one in rounds if one[0].n_full < one[0].n_hits)
    look = look_at(packed, values, packed.n_full)
    assert (look.high > look.low).all()
    assert (look.low <= truth + 1e-9).all()
    assert (look.high >= truth - 1e-9).all()


def test_verdicts_on_hits_to_come_are_not_read():
    packed, values, _ = packed_round(2)
    other = np.where(packed.hits < 20, values, 1 - values)
    assert np.array_equal(look_at(packed, values, 20).low, look_at(packed, other, 20).low)


def test_equal_models_are_settled_once_they_are_known_to_be_equal():
    packed, values, _ = packed_round(3, models=2)
    twins = Packed(np.array([packed.weights[0]] * 2), packed.hits, packed.n_hits, packed.n_full)
    look = look_at(twins, values, 1)
    assert look.equal.all()
    assert look.is_settled()
    assert look.ties() == [(0, 1)]


def test_a_margin_settles_what_hardly_differs():
    packed, values, truth = packed_round(4)
    wide = look_at(packed, values, packed.n_hits, margin=1.0)
    assert wide.equal.all()
    gaps = np.abs(truth[:, None] - truth)
    narrow = look_at(packed, values, packed.n_hits, margin=float(gaps[gaps > 0].min()))
    assert narrow.equal.sum() == len(truth) + 2


def test_first_places_are_settled_before_the_others():
    # The last two models are equal but for one HIT to come.
    weights = np.array([[0.1] * 10 + [0.0] * 2, [0.0] * 11 + [0.1], [0.0] * 10 + [0.1, 0.0]])
    packed = Packed(weights, np.arange(12), n_hits=12, n_full=0)
    look = look_at(packed, np.ones(12), 10)
    assert look.is_settled(places=1)
    assert not look.is_settled()
    assert look.open_places() == [(1, 2)]


@pytest.mark.slow
def test_intervals_over_the_hits_of_packed_rounds_cover_at_the_stated_rate():
    """80 packed rounds, looked at six times each: a model's interval ever misses its score in at most 5% of rounds and
    any statement on who is ahead is ever wrong in at most 5%. More than 10 have a probability below 0.3%."""
    missed, wrong = np.zeros(4), 0
    for seed in range(80):
        packed, values, truth = packed_round(seed, queries=60)
        order = np.sign((truth[:, None] - truth).round(9))
        looks = [look_at(packed, values, hits) for hits in np.linspace(1, packed.n_hits, 6).astype(int)]
        missed += np.any([(look.low > truth + 1e-9) | (look.high < truth - 1e-9) for look in looks], axis=0)
        wrong += any(((look.ahead != 0) & (look.ahead != order)).any() for look in looks)
    assert missed.max() <= 10
    assert wrong <= 10


@pytest.mark.parametrize(
    ("models", "hits", "message"),
    [(1, 1, "two or more models"), (2, 0, "Of 91 HITs, 0"), (2, 92, "Of 91 HITs, 92")],
)
def test_bad_input_is_refused(models, hits, message):
    packed = Packed(np.ones((models, 91)), np.arange(91), n_hits=91, n_full=91)
    with pytest.raises(ValueError, match=message):
        look_at(packed, np.ones(91), hits)
