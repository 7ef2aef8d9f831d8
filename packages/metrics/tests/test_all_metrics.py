"""Every metric against ir-measures (trec_eval) if it has it, else against a slow reading of its definition."""

from itertools import permutations
from math import log2

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpart_metrics import (
    ALL_METRICS,
    Found,
    Qrels,
    Rankings,
    by_score,
    check_depth,
    condensed,
    find,
    mean_rank,
    median_rank,
    open_interval,
    pmrp,
    success_at_k,
    tie_interval,
)
from counterpart_metrics.graded import METRICS as GRADED

ids = st.integers(0, 11)
lists = st.dictionaries(st.integers(0, 3), st.lists(ids, unique=True, min_size=1, max_size=12), min_size=1)
scored_lists = st.dictionaries(
    st.integers(0, 3), st.dictionaries(ids, st.integers(0, 3).map(float), min_size=1), min_size=1
)
LEVELS = {2: 1.0, 1: 0.5, 0: 0.0, -1: np.nan}  # trec_eval's relevance and our gain
ANY_JUDGMENTS = st.dictionaries(st.integers(0, 3), st.dictionaries(ids, st.sampled_from(list(LEVELS)), max_size=12))
BOUNDED = [name for name in ALL_METRICS if name != "infAP"]
JUDGED = st.dictionaries(st.integers(0, 3), st.dictionaries(ids, st.sampled_from([2, 1, 0]), max_size=12))


def found_in(rankings: dict, levels: dict, **kept: object) -> Found:
    return find(Rankings.of(rankings), Qrels.of(gains_of(rankings, levels)))


def gains_of(rankings: dict, levels: dict) -> dict:
    return {q: {i: LEVELS[level] for i, level in levels.get(q, {}).items()} for q in rankings}


def by_ir_measures(measures: list, rankings: dict, levels: dict) -> dict[object, dict]:
    """The values of each measure of the queries that have a match; scores fall with the rank."""
    qrels = [ir_measures.Qrel(str(q), str(i), level) for q in rankings for i, level in levels.get(q, {}).items()]
    run = [
        ir_measures.ScoredDoc(str(q), str(i), -rank) for q, items in rankings.items() for rank, i in enumerate(items)
    ]
    matched = [q for q in sorted(rankings) if any(level > 0 for level in levels.get(q, {}).values())]
    values = {measure: dict.fromkeys(matched, 0.0) for measure in measures}
    for one in ir_measures.iter_calc(measures, qrels, run) if matched else ():
        if int(one.query_id) in matched:
            values[one.measure][int(one.query_id)] = one.value
    return values


def ours(name: str, found: Found) -> dict:
    values = ALL_METRICS[name](found)
    return {
        q: value
        for q, value, size in zip(found.qrels.queries.tolist(), values.tolist(), found.qrels.positives, strict=True)
        if size
    }


OF_TREC_EVAL = {
    **{f"{name}@{k}": ir_measures.Success @ k for name in "RS" for k in (1, 5, 10)},
    "MRR": ir_measures.RR,
    "R-Precision": ir_measures.Rprec,
    "bpref": ir_measures.Bpref,
    "infAP": ir_measures.infAP,
}
GAINS_OF_TREC_EVAL = {"nDCG": ir_measures.nDCG, "nDCG@10": ir_measures.nDCG @ 10}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rankings=lists, levels=ANY_JUDGMENTS)
def test_a_metric_of_trec_eval_has_its_value(rankings, levels):
    # trec_eval's nDCG takes unjudged pool items for relevance -1.
    judged = {q: {i: level for i, level in one.items() if level >= 0} for q, one in levels.items()}
    for metrics, said in ((OF_TREC_EVAL, levels), (GAINS_OF_TREC_EVAL, judged)):
        found = found_in(rankings, said)
        expected = by_ir_measures([ir_measures.RR, *metrics.values()], rankings, said)
        for name, measure in metrics.items():
            assert ours(name, found) == pytest.approx(expected[measure], abs=1e-9), name
        inverse = {q: 1 / rank for q, rank in ours("rank", found).items()}
        assert inverse == pytest.approx(expected[ir_measures.RR])


def slow(name: str, ranking: list, gains: dict) -> float:
    """The definitions, read one place at a time."""
    listed = [gains.get(item, 0.0) for item in ranking]
    best = sorted((gain for gain in gains.values() if gain > 0), reverse=True)
    size = len(best)
    if name.startswith("graded R@"):
        return max([0.0, *listed[: int(name[9:])]])
    if name == "PMRP":
        return sum(gain > 0 for gain in listed[: min(size, 50)]) / min(size, 50)
    if name == "graded R-Precision":
        return sum(listed[:size]) / sum(best)
    if name == "mAP@R":
        return sum(sum(g > 0 for g in listed[:r]) / r for r in range(1, size + 1) if listed[r - 1 : r] > [0]) / size
    if name == "graded mAP@R":
        return sum(sum(listed[:r]) / sum(best[:r]) for r in range(1, size + 1) if listed[r - 1 : r] > [0]) / size
    if name == "nDCG@10":
        ideal = sum(gain / log2(rank + 1) for rank, gain in enumerate(best[:10], 1))
        return sum(gain / log2(rank + 1) for rank, gain in enumerate(listed[:10], 1)) / ideal
    raise KeyError(name)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(rankings=lists, levels=JUDGED)
def test_a_metric_equals_a_slow_reading_of_its_definition(rankings, levels):
    gains, found = gains_of(rankings, levels), found_in(rankings, levels)
    matched = [q for q in sorted(rankings) if any(gain > 0 for gain in gains[q].values())]
    for name in ["PMRP", "mAP@R", *(name for name in GRADED if name != "nDCG")]:
        expected = {q: slow(name, rankings[q], gains[q]) for q in matched}
        assert ours(name, found) == pytest.approx(expected), name


@given(rankings=lists, levels=JUDGED)
def test_without_partial_matches_a_graded_metric_is_the_binary_one(rankings, levels):
    full = {q: {i: 2 * (level > 0) for i, level in one.items()} for q, one in levels.items()}
    found = found_in(rankings, full)
    for name in ("R@1", "R-Precision", "mAP@R"):
        assert ours(f"graded {name}", found) == pytest.approx(ours(name, found))


def test_graded_metrics_of_a_case_worked_by_hand():
    found = find(Rankings.of({1: [5, 9, 6, 7]}), Qrels.of({1: {5: 0.5, 6: 1.0, 7: 1.0, 8: 0.0}}))
    values = {name: float(GRADED[name](found)[0]) for name in ("graded R@1", "graded R-Precision", "graded mAP@R")}
    # cg = .5, .5, 1.5; cg* = 1, 2, 2.5; matches have ranks 1 and 3 of the first R = 3
    expected = {"graded R@1": 0.5, "graded R-Precision": 1.5 / 2.5, "graded mAP@R": (0.5 / 1 + 1.5 / 2.5) / 3}
    assert values == pytest.approx(expected)


def test_pmrp_looks_at_fifty_places_at_most():
    assert pmrp(range(100), range(30, 100)) == 20 / 50
    assert pmrp(range(100), range(5, 15)) == 5 / 10


def test_false_positives_are_only_items_that_were_judged_no_match():
    levels = {1: {5: 0, 6: 0, 7: 2}, 2: {5: 2}}
    values = ALL_METRICS["FP@5"](found_in({1: [5, 9, 7, 6, 8, 4], 2: [6, 5]}, levels))
    assert values[0] == pytest.approx(2 / 5)
    assert np.isnan(values[1])


def test_median_and_mean_rank_are_of_the_best_placed_match():
    rankings, positives = {1: [5, 6, 7], 2: [6, 5, 7], 3: [7, 6, 5]}, {1: {7, 6}, 2: {6}, 3: {5}}
    assert (median_rank(rankings, positives), mean_rank(rankings, positives)) == (2.0, 2.0)
    assert median_rank([9, 8], {8}) == 2.0


def test_a_match_that_no_list_holds_has_no_finite_rank():
    assert median_rank({1: [5], 2: [5], 3: [6]}, {1: {5}, 2: {5}, 3: {5}}) == 1.0
    assert mean_rank({1: [5], 2: [6]}, {1: {5}, 2: {5}}) == np.inf


def test_success_at_k_is_recall_at_k_of_judged_matches():
    assert success_at_k({1: [5, 6], 2: [7, 8]}, {1: {6}, 2: {9}}, k=2) == 0.5


@settings(deadline=None)
@given(rankings=lists, levels=ANY_JUDGMENTS)
def test_a_condensed_list_is_the_list_without_unjudged_items(rankings, levels):
    judged = {q: {i for i, level in levels.get(q, {}).items() if level >= 0} for q in rankings}
    shorter = {q: [item for item in items if item in judged[q]] for q, items in rankings.items()}
    known = {q: {i: level for i, level in one.items() if level >= 0} for q, one in levels.items()}
    one, other = condensed(found_in(rankings, levels)), found_in(shorter, known)
    assert one.lengths.tolist() == other.lengths.tolist()
    for name in ("R@1", "R-Precision", "mAP@R", "nDCG"):
        assert ours(name, one) == pytest.approx(ours(name, other))


def with_scores(lists: dict) -> Rankings:
    """Listed by item, so that the order among equal scores is left to the reader."""
    plain = Rankings.of({q: sorted(items) for q, items in lists.items()})
    scores = np.full(plain.items.shape, -np.inf)
    for row, query in enumerate(plain.queries.tolist()):
        scores[row, : len(lists[query])] = [lists[query][item] for item in sorted(lists[query])]
    return Rankings(plain.queries, plain.items, scores)


@settings(max_examples=60, deadline=None)
@given(scored=scored_lists, levels=JUDGED)
def test_ties_in_trec_order_give_the_values_of_trec_eval(scored, levels):
    qrels = [ir_measures.Qrel(str(q), str(i), level) for q in scored for i, level in levels.get(q, {}).items()]
    run = [ir_measures.ScoredDoc(str(q), str(i), score) for q, one in scored.items() for i, score in one.items()]
    found = find(by_score(with_scores(scored), "trec"), Qrels.of(gains_of(scored, levels)))
    expected = {}
    if any(qrel.relevance > 0 for qrel in qrels):
        expected = {int(one.query_id): one.value for one in ir_measures.iter_calc([ir_measures.RR], qrels, run)}
    values = {q: 1 / rank for q, rank in ours("rank", found).items()}
    assert values == pytest.approx({q: expected.get(q, 0.0) for q in values})


def test_trec_eval_rounds_scores_so_that_close_ones_tie():
    close = {1: {5: 1.0 + 1e-12, 7: 1.0}}
    assert by_score(with_scores(close), "trec").items.tolist() == [[7, 5]]
    assert by_score(with_scores(close)).items.tolist() == [[5, 7]]


def test_our_order_of_ties_is_by_item():
    assert by_score(with_scores({1: {9: 0.5, 12: 0.5, 3: 0.9, 10: 0.5}})).items.tolist() == [[3, 9, 10, 12]]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(scored=st.dictionaries(ids, st.integers(0, 1).map(float), min_size=1, max_size=5), levels=JUDGED)
def test_the_interval_of_ties_is_that_of_all_orders(scored, levels):
    qrels = Qrels.of(gains_of({1: scored}, levels))
    orders = [
        order
        for order in permutations(scored)
        if all(scored[a] >= scored[b] for a, b in zip(order, order[1:], strict=False))
    ]
    found = [find(Rankings.of({1: order}), qrels) for order in orders]
    for name in BOUNDED:
        values = [ALL_METRICS[name](one)[0] for one in found]
        low, high = tie_interval(ALL_METRICS[name], with_scores({1: scored}), qrels)
        assert (low[0], high[0]) == pytest.approx((min(values), max(values)), nan_ok=True), name


def test_rankings_without_scores_say_nothing_of_ties():
    with pytest.raises(ValueError, match="have no scores"):
        by_score(Rankings.of({1: [2]}))
    with pytest.raises(ValueError, match="not numbers"):
        by_score(Rankings(np.array([1]), np.array([[2]]), np.array([[np.nan]])))
    with pytest.raises(ValueError, match="'mine'; choose counterpart"):
        by_score(Rankings.of({1: [2]}), "mine")


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(order=st.permutations(range(5)), depth=st.integers(0, 5), levels=JUDGED)
def test_the_open_interval_holds_the_value_of_every_way_to_go_on(order, depth, levels):
    qrels = Qrels.of(gains_of({1: order}, levels))
    cut = find(Rankings.of({1: order[:depth]}), qrels)
    found = [find(Rankings.of({1: [*order[:depth], *rest]}), qrels) for rest in permutations(order[depth:])]
    for name in BOUNDED:
        low, high = open_interval(ALL_METRICS[name], cut)
        values = [ALL_METRICS[name](one)[0] for one in found]
        assert all(np.isnan(value) or low[0] - 1e-12 <= value <= high[0] + 1e-12 for value in values), name


def test_lists_that_are_too_short_are_refused_with_the_missing_depth():
    found = find(Rankings.of({1: [5, 6], 2: [5], 3: [7]}), Qrels.of({1: {5, 8, 9, 10}, 2: {5}, 3: {8}}))
    with pytest.raises(ValueError, match="1 lists .* 2 .* rank 4"):
        check_depth(found)
    with pytest.raises(ValueError, match="2 lists .* 9 .* rank 10"):
        check_depth(found, 10)
    check_depth(found.keep(found.ranks > 0), 10)
