"""Batches of likely matches in an audit: the order, what it opens of audited queries, recall, and the guard."""

import json

import numpy as np
import pytest

from core.errors import CounterpartError
from counterpart_statistics.estimation import pool_metrics
from counterpart_statistics.pair_codes import pairs_of
from dataset.exports.judgments_long import chances_of
from dataset.releases.packing_replay import check_packing
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import AskLikely
from evaluation.auditing.asked_pairs import opened_pairs
from evaluation.auditing.round_estimates import EstimateParameters, estimate_round
from evaluation.auditing.whole_queries import whole_queries
from hits.models import Item
from tests.commands import output_of
from tests.dataset.releasing import release
from tests.evaluation.asking.likely import likely_matches
from tests.evaluation.worlds import AUDIT, SMALL, judge, judge_all, judge_last_top_up, published
from tests.hits.pools import pack


def batch(round, hits=2):
    return AskLikely(likely=hits).plan(round)


def asked(round, top_up):
    items = Item.objects.filter(hit__round=round, hit__top_up=top_up, control=None)
    return set(items.values_list("image", "caption"))


def test_a_batch_asks_the_likeliest_unjudged_pairs_of_both_directions_once(audit):
    """An independent witness: the pairs one by one, each as likely as the likelier of its directions says."""
    chance, verdict = {}, {}
    for whole in whole_queries(audit):
        p = whole.expectations[0]
        for place in zip(*np.nonzero(whole.queries.asked), strict=True):
            pair = divmod(int(whole.queries.codes[place]), 2**32)
            chance[pair] = max(chance.get(pair, 0), p[place])
            verdict[pair] = whole.queries.gains[place]
    order = sorted(chance, key=lambda pair: (-chance[pair], pair))
    unjudged = [pair for pair in order if np.isnan(verdict[pair])]
    planned = batch(audit)
    assert planned.pairs == 8
    assert sorted(pairs_of(planned.batch.asked)) == sorted(unjudged[:8])
    until = order.index(unjudged[7])
    assert sorted(pairs_of(planned.batch.audited)) == sorted(
        pair for pair in order[:until] if not np.isnan(verdict[pair])
    )
    assert planned.batch.matches == pytest.approx(sum(chance[pair] for pair in unjudged[:8]))
    assert not audit.top_ups.exists()
    add_planned(planned, actor="robin")
    assert asked(audit, audit.top_ups.get()) == set(unjudged[:8])


def test_labels_that_the_order_came_to_are_known_in_audited_queries_and_others_alike(audit):
    add_planned(batch(audit), actor="robin")
    assert not len(opened_pairs(audit))  # until its HITs are judged
    before = {one.direction: one for one in whole_queries(audit)}
    judge_last_top_up(audit)
    expected = asked(audit, audit.top_ups.get())
    keys = dict(audit.pool.collection.images.values_list("key", "pk"))
    captions = dict(audit.pool.collection.captions.values_list("key", "pk"))
    expected |= {(keys[image], captions[caption]) for image, caption in audit.top_ups.get().opened}
    assert set(pairs_of(opened_pairs(audit))) == expected
    for whole in whole_queries(audit):
        codes = {image << 32 | caption for image, caption in expected}
        np.testing.assert_array_equal(whole.opened, np.isin(whole.queries.codes, list(codes)))
        assert not np.isnan(whole.queries.gains[whole.opened]).any()
        assert whole.opened[whole.audited].any()
        assert whole.opened[~whole.audited].any()
        np.testing.assert_array_equal(whole.audited, before[whole.direction].audited)
        np.testing.assert_array_equal(whole.metrics, before[whole.direction].metrics)
        assert (whole.proxy != before[whole.direction].proxy).any()


def test_expected_metrics_learn_the_spread_of_queries_from_the_audit_alone_and_the_order_from_opened_pairs_too(
    audit, monkeypatch
):
    add_planned(batch(audit), actor="robin")
    judge_last_top_up(audit)
    rows = []

    def effect(p, labels, counting):
        rows.append((np.asarray(counting), ~np.isnan(labels)))
        return 0.5

    monkeypatch.setattr("counterpart_statistics.selection.pooled_queries.query_effect", effect)
    for whole in whole_queries(audit):
        rows.clear()
        asked, audited, opened = whole.queries.asked, whole.audited, whole.opened
        assert whole.after_opened.any()
        assert whole.proxy.any()
        (order, seen), (expected, judged_whole) = rows
        np.testing.assert_array_equal(seen, asked & (audited[:, None] | opened))
        np.testing.assert_array_equal(order, seen.any(axis=1))
        assert (order & ~audited).any()
        np.testing.assert_array_equal(expected, audited)
        np.testing.assert_array_equal(judged_whole, asked & audited[:, None])


def test_batch_after_batch_finds_all_matches_and_then_there_is_nothing_to_add(audit):
    looks = [likely_matches(audit)]
    while np.isnan(looks[-1].gains).any():
        add_planned(batch(audit, 4), actor="robin")
        judge_last_top_up(audit)
        looks.append(likely_matches(audit))
    assert looks[-1].recall.value == 1
    found = [one.found for one in looks]
    assert found == sorted(found)
    assert found[1] > found[0]
    with pytest.raises(CounterpartError, match="Every pair of round audit"):
        batch(audit)
    # All pairs are judged, and the estimates of the audit stay estimates: they know more, and are the truth's.
    for one in estimate_round(audit, EstimateParameters(metric=("mAP@R",))).models:
        assert not one.counted
        truth = whole_metrics(audit)[one.direction][one.model]
        assert one.estimate.value == pytest.approx(truth, abs=1e-6)


def whole_metrics(round):
    """The mAP@R of each model over all queries, all of which are judged by now."""
    return {
        whole.direction: dict(
            zip(
                whole.queries.models,
                pool_metrics(whole.queries.ranks, whole.queries.gains)[0].mean(axis=1).tolist(),
                strict=True,
            )
        )
        for whole in whole_queries(round)
    }


def test_likely_matches_wait_for_the_audit_and_for_the_batch_before(audit):
    pool = audit.pool
    made = published(pack("open", pool, **AUDIT))
    hits = list(made.hits.order_by("number"))
    for hit in hits[:-1]:
        judge(hit)
    with pytest.raises(CounterpartError, match="in round open"):
        batch(made)
    judge(hits[-1])
    add_planned(batch(made), actor="robin")
    with pytest.raises(CounterpartError, match="last top-up of round open"):
        batch(made)
    everything = judge_all(published(pack("all", pool, design=SMALL)))
    with pytest.raises(CounterpartError, match="Round all is not an audit"):
        batch(everything)


def test_a_release_gives_the_reason_of_each_pair_and_packs_the_batches_again(audit):
    add_planned(batch(audit), actor="robin")
    judge_last_top_up(audit)
    version = release(audit)
    (described,) = version.manifest["rounds"]
    assert check_packing(audit, described).problems == []
    chances = chances_of(version)["audit"]
    greedy = {
        (item.image.key, item.caption.key)
        for item in Item.objects.filter(hit__top_up__isnull=False, control=None).select_related("image", "caption")
    }
    for image, caption in greedy:
        assert (chances.reason(image, caption), chances.of(image, caption)) == ("greedy", None)
    first = Item.objects.filter(hit__top_up=None, control=None).first()
    pair = first.image.key, first.caption.key
    assert chances.reason(*pair) == "audit"
    assert chances.of(*pair) == pytest.approx(0.75)


def test_the_commands_give_recall_before_a_batch_and_the_guard_after_it(audit):
    shown = json.loads(output_of("add", "audit", "--likely", "2", "--yes", "--json"))
    assert 0 < shown["recall_low"] < shown["recall"] < shown["recall_high"] <= 1
    assert (shown["question"], shown["level"]) == ("these", 0.95)
    assert shown["matches_to_expect"] > 0
    assert (shown["pairs"], shown["added"]) == (8, 2)
    assert json.loads(output_of("estimate", "audit", "--json"))["guards"] == []
    judge_last_top_up(audit)
    guards = json.loads(output_of("estimate", "audit", "--metric", "mAP@R", "--json"))["guards"]
    assert len(guards) == 6
    for one in guards:
        moved = one["counted"] + one["weight"] * (one["estimate"] - one["counted"])
        assert one["guarded"] == pytest.approx(moved)
        assert one["low"] <= one["guarded"] <= one["high"]
        assert (one["question"], one["level"]) == ("these", 0.95)
    assert output_of("estimate", "audit", "--metric", "mAP@R").count("with unjudged pairs as no matches") == 2
