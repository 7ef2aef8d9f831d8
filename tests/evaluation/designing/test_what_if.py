"""Replays of a finished round: each policy asks, costs and gives what the real design does."""

import numpy as np
import pytest
from django.db.models import Q

from core.errors import CounterpartError
from counterpart_statistics.pair_codes import codes_of
from evaluation.asking import greedy_rounds
from evaluation.asking.greedy_rounds import ask_likely_matches
from evaluation.auditing.round_estimates import EstimateParameters, estimate_round
from evaluation.designing import what_if
from evaluation.designing.finished_rounds import FinishedRound
from evaluation.designing.what_if import WhatIfParameters
from evaluation.scores.scoring import evaluate_version
from hits.models import Item
from tests.dataset.releasing import release
from tests.evaluation.asking.likely import likely_matches
from tests.evaluation.worlds import SMALL, judge, judge_all, judge_last_top_up, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db

SEED, SHARE = 4, 0.3


@pytest.fixture(scope="module")
def finished(lasting):
    return FinishedRound.of(judge_all(published(pack("all", known_pool(), design=SMALL, seed=SEED, reward="2.00"))))


@pytest.fixture
def pool(finished):
    return finished.round.pool


def replayed(finished, judge, **given):
    (one,) = what_if.what_if(finished, WhatIfParameters(judge=judge, replays=1, seed=SEED, **given))[judge]
    return one


def real(pool, judge, **more):
    """A round of the same pool that is packed with the policy."""
    return published(pack(f"real-{judge[:5]}", pool, design=SMALL, seed=SEED, reward="2.00", judge=judge, **more))


def codes(**items):
    return np.unique(codes_of(Item.objects.filter(control=None, **items).values_list("image_id", "caption_id")))


def counted(round):
    """The scores of the round's version, with unjudged pairs as no matches."""
    version = release(round, f"v-{round}", partial=True)
    return {
        (one.model, metric, direction): figure.value
        for one in evaluate_version(version)
        for direction, figures in one.figures.items()
        for metric, figure in figures.items()
    }


def check_scores(replay, round, *, estimated):
    scores = counted(round)
    real_estimates = estimate_round(round).models if estimated else []
    by_cell = {(one.model, one.metric, one.direction): one.estimate for one in real_estimates}
    assert len(replay.scores) == 18  # three models, three metrics, two directions
    for one in replay.scores:
        cell = one.model, one.metric, one.direction
        assert one.counted == pytest.approx(scores[cell], abs=1e-12), cell
        if estimated:
            found, expected = one.estimated.estimate, by_cell[cell]
            assert (found.value, found.low, found.high) == pytest.approx(
                (expected.value, expected.low, expected.high), abs=1e-12
            ), cell


def test_all_pairs_again_are_the_round_as_it_was_run(finished):
    one = replayed(finished, "all")
    assert (one.judgments, one.hits, one.cost) == (finished.judgments, finished.hits, finished.cost)
    assert (one.pairs, one.matches, one.recall) == (finished.round.summary["pairs"], len(finished.matches), 1.0)
    for score in one.scores:
        assert score.counted == score.full == pytest.approx(score.estimated.estimate.value, abs=1e-12)
    check_scores(one, finished.round, estimated=True)


def test_first_hits_are_those_of_the_real_design_and_give_the_same_r_at_1(finished, pool):
    one = replayed(finished, "first-hits")
    made = judge_all(real(pool, "first-hits"))
    assert one.packed[0].tolist() == codes(hit__round=made).tolist()
    assert (one.hits, one.cost) == (made.hits.count(), 2 * made.hits.count())
    assert all(score.counted == score.full for score in one.scores if score.metric == "R@1")
    assert any(score.counted != score.full for score in one.scores)
    check_scores(one, made, estimated=False)


def test_an_audit_asks_and_gives_what_the_real_design_does(finished, pool):
    one = replayed(finished, "audit", audit_share=SHARE)
    made = judge_all(real(pool, "audit", audit_share=SHARE))
    assert one.packed[0].tolist() == codes(hit__round=made).tolist()
    assert (one.hits, one.cost) == (made.hits.count(), 2 * made.hits.count())
    assert one.queries == 10  # five images and five captions
    assert (one.matches, one.estimated) == (likely_matches(made).found, likely_matches(made).recall)
    check_scores(one, made, estimated=True)


def test_an_audit_of_any_seed_gives_what_estimate_gives(finished):
    given = WhatIfParameters(judge="audit", audit_share=0.5, seed=8, replays=2)
    for replay in what_if.what_if(finished, given)["audit"]:
        expected = estimate_round(finished.round, EstimateParameters(audit_share=0.5, seed=replay.seed)).models
        by_cell = {(one.model, one.metric, one.direction): one.estimate for one in expected}
        for one in replay.scores:
            assert one.estimated.estimate == by_cell[one.model, one.metric, one.direction]


def test_audit_and_greedy_open_the_batches_of_the_real_round_and_stop_where_it_does(finished, pool, monkeypatch):
    monkeypatch.setattr(greedy_rounds, "BATCH", 2)
    monkeypatch.setattr(what_if, "BATCH", 2)
    one = replayed(finished, "audit+greedy", audit_share=SHARE)
    made = judge_all(real(pool, "audit+greedy", audit_share=SHARE))
    while ask_likely_matches(made, actor="reconciler"):
        judge_last_top_up(made)
    batches = [codes(hit__top_up=top_up) for top_up in made.top_ups.order_by("number")]
    assert len(batches) > 1
    audit, *others = one.packed
    assert audit.tolist() == codes(hit__round=made, hit__top_up=None).tolist()
    assert [sorted(batch.tolist()) for batch in others] == [batch.tolist() for batch in batches]
    assert (one.hits, one.cost) == (made.hits.count(), 2 * made.hits.count())
    likely = likely_matches(made)
    assert (one.matches, one.estimated.value) == (likely.found, pytest.approx(likely.recall.value, abs=1e-12))
    assert one.recall == one.matches / len(finished.matches)
    check_scores(one, made, estimated=True)


def test_a_policy_that_draws_is_replayed_and_another_is_not(finished):
    found = what_if.what_if(finished, WhatIfParameters(seed=1, replays=3, audit_share=0.5))
    assert {judge: [one.seed for one in replays] for judge, replays in found.items()} == {
        "all": [1],
        "first-hits": [1],
        "audit": [1, 2, 3],
        "audit+greedy": [1, 2, 3],
    }
    first, second, third = (set(one.packed[0].tolist()) for one in found["audit"])
    assert first != second != third


def test_rounds_that_do_not_know_all_their_pairs_are_refused(pool):
    made = published(pack("other", pool, design=SMALL))
    with pytest.raises(CounterpartError, match="has no judgments that count"):
        FinishedRound.of(made)
    for hit in made.hits.filter(~Q(number=1)):
        judge(hit)
    with pytest.raises(CounterpartError, match="verdicts in round other"):
        FinishedRound.of(made)
    with pytest.raises(CounterpartError, match="asks audit pairs"):
        FinishedRound.of(judge_all(real(pool, "audit", audit_share=SHARE)))
