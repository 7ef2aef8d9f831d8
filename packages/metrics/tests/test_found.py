import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterpart_metrics.found
from counterpart_metrics import Qrels, Rankings, find

LISTS = {7: [3, 1, 2], 2: [5, 4], 9: []}
ids = st.integers(0, 8)
lists = st.dictionaries(ids, st.lists(ids, unique=True, max_size=9), min_size=1)
judged = st.dictionaries(ids, st.dictionaries(ids, st.sampled_from([0.0, 0.5, 1.0])), max_size=8)


def ranks_of(rankings: dict, wanted: dict, **options: object) -> dict:
    found = find(Rankings.of(rankings), Qrels.of(wanted), **options)
    pairs = zip(found.qrels.queries[found.qrels.rows].tolist(), found.qrels.items.tolist(), strict=True)
    return dict(zip(pairs, found.ranks.tolist(), strict=True))


def test_judged_items_are_found_at_their_ranks_and_others_are_not_listed():
    assert ranks_of(LISTS, {7: {2, 8}, 2: {5: 0.0}}) == {(2, 5): 1, (7, 2): 3, (7, 8): 0}


@given(lists, judged)
def test_ranks_equal_the_places_in_the_lists(rankings, wanted):
    wanted = {query: items for query, items in wanted.items() if query in rankings}
    expected = {
        (query, item): rankings[query].index(item) + 1 if item in rankings[query] else 0
        for query, items in wanted.items()
        for item in items
    }
    assert ranks_of(rankings, wanted) == expected


@given(lists, judged, st.sets(ids))
def test_in_a_part_of_the_gallery_ranks_are_those_of_lists_without_the_rest(rankings, wanted, gallery):
    wanted = {
        query: {item: gain for item, gain in items.items() if item in gallery}
        for query, items in wanted.items()
        if query in rankings
    }
    shorter = {query: [item for item in items if item in gallery] for query, items in rankings.items()}
    assert ranks_of(rankings, wanted, gallery=sorted(gallery)) == ranks_of(shorter, wanted)


@given(lists, judged, st.none() | st.sets(ids))
def test_lists_give_what_their_arrays_give(rankings, wanted, part):
    qrels = Qrels.of({query: items for query, items in wanted.items() if query in rankings})
    gallery = None if part is None else sorted(part)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counterpart_metrics.found, "SHALLOW", 1)
        patch.setattr(counterpart_metrics.found, "DEEPER", 2)
        ours = find(rankings, qrels, gallery=gallery)
    arrays = find(Rankings.of(rankings), qrels, gallery=gallery)
    assert (ours.ranks.tolist(), ours.lengths.tolist()) == (arrays.ranks.tolist(), arrays.lengths.tolist())


def test_lists_are_read_no_deeper_than_their_judged_items():
    assert find({1: [*range(64), *("no ids" * 11)]}, Qrels.of({1: [63]})).ranks.tolist() == [64]


def test_a_list_that_is_missing_is_an_error_if_its_query_has_a_match():
    with pytest.raises(ValueError, match="1 queries .* 2"):
        find({1: [5]}, Qrels.of({1: [5], 2: [5]}))


def test_ids_too_large_for_a_table_are_found_too():
    far = 2**40
    assert ranks_of({1: [far + 2, far, 3], 2: [3]}, {1: {far: 1.0, 4: 1.0}}) == {(1, 4): 0, (1, far): 2}
    assert ranks_of({1: [far + 2, far, 3]}, {1: {far}}, gallery=[far, 99]) == {(1, far): 1}


def test_lengths_are_those_of_the_lists():
    assert find(Rankings.of(LISTS), Qrels.of({query: {99} for query in LISTS})).lengths.tolist() == [2, 3, 0]


def test_keeping_some_judgments_is_finding_only_those():
    wanted = {7: {1: 1.0, 2: 0.0, 3: 0.5}, 2: {4: 1.0}}
    found = find(Rankings.of(LISTS), Qrels.of(wanted))
    kept = found.keep(found.qrels.gains == 1)
    again = find(Rankings.of(LISTS), Qrels.of({7: {1: 1.0}, 2: {4: 1.0}}))
    assert kept.ranks.tolist() == again.ranks.tolist() == [2, 2]
    assert kept.qrels.starts.tolist() == again.qrels.starts.tolist()
    assert found.keep(found.qrels.items == 4).qrels.positives.tolist() == [1, 0]


def test_an_item_listed_twice_is_an_error_that_names_the_query():
    with pytest.raises(ValueError, match="query 7"):
        find(Rankings.of({7: [3, 1, 3, 2], 2: [5]}), Qrels.of({7: {2}}))


def test_queries_without_a_ranking_are_counted_unless_they_have_no_match():
    with pytest.raises(ValueError, match="2 queries .* 1"):
        find(Rankings.of(LISTS), Qrels.of({1: {1}, 3: {1}, 7: {1}, 8: set(), 10: {1: 0.0}}))
    assert find(Rankings.of(LISTS), Qrels.of({8: set(), 10: {1: 0.0}})).ranks.tolist() == [0]


def test_matches_and_their_number_a_query():
    qrels = Qrels.of({3: {1: 1.0, 2: 0.5, 4: 0.0}, 1: {}})
    assert (qrels.queries.tolist(), qrels.positives.tolist()) == ([1, 3], [0, 2])
    assert qrels.matches.tolist() == [True, True, False]


def test_pairs_in_any_order_are_the_same_as_a_mapping():
    pairs = Qrels.of_pairs([3, 1, 3], [9, 2, 4], [1.0, 0.5, 0.0], every=[5, 1, 3])
    mapping = Qrels.of({1: {2: 0.5}, 5: {}, 3: {4: 0.0, 9: 1.0}})
    for one, other in zip(vars(pairs).values(), vars(mapping).values(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [({1: {-1}}, "1 items are negative"), ({1: {1: 2.0, 2: -1.0}}, "2 gains are outside 0..1")],
)
def test_impossible_judgments_are_refused(wanted, problem):
    with pytest.raises(ValueError, match=problem):
        Qrels.of(wanted)


def test_a_pair_judged_twice_is_refused():
    with pytest.raises(ValueError, match="1 pairs .* item 2"):
        Qrels.of_pairs([1, 1], [2, 2])


def test_a_match_named_twice_in_a_list_counts_once():
    assert Qrels.of({1: [4, 2, 4], 2: {4: 0.5}}).items.tolist() == [2, 4, 4]


def test_ids_too_large_to_sort_as_one_number_are_sorted_by_query_and_item():
    qrels = Qrels.of({2**40: [2**41, 3], 2: [2**42]})
    assert (qrels.queries.tolist(), qrels.items.tolist()) == ([2, 2**40], [2**42, 3, 2**41])


def test_the_best_rank_of_a_query_without_judgments_is_infinite():
    judged = {1: {}, 2: {7: 1.0, 8: 1.0}, 3: {}, 4: {8: 0.0}, 5: {}}
    assert find(dict.fromkeys(judged, [8, 7]), Qrels.of(judged)).best.tolist() == [np.inf, 1, np.inf, np.inf, np.inf]


def test_a_negative_item_in_a_list_is_refused():
    with pytest.raises(ValueError, match="1 items are negative"):
        Rankings.of({1: [3, -1]})


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_similarities_are_ranked_as_a_stable_sort_does_ties_by_item(kind):
    rng = np.random.default_rng(5)
    table = rng.choice([-np.inf, -2.5, -1e-42, -0.0, 0.0, 1e-42, 0.5, 3.0, np.inf], (30, 40)).astype(kind)
    queries, items = rng.permutation(90)[:30], rng.permutation(70)[:40]
    ranked = Rankings.of_similarity(table, queries, items)
    assert ranked.queries.tolist() == sorted(queries.tolist())
    for query, scores in zip(queries.tolist(), table.tolist(), strict=True):
        expected = sorted(zip(scores, items.tolist(), strict=True), key=lambda pair: (-pair[0], pair[1]))
        assert ranked.items[ranked.queries.tolist().index(query)].tolist() == [item for _, item in expected]


@pytest.mark.parametrize(
    ("table", "ids", "problem"),
    [
        ([[1.0, np.nan]], ([1], [2, 3]), "not numbers"),
        ([[1.0]], ([1], [2, 3]), "similarity is .1, 1., but there are 1 queries, 2 items"),
        ([[1.0, 2.0]], ([1], [2, 2]), "ids of the queries or items repeat"),
    ],
)
def test_similarities_that_cannot_be_ranked_are_refused(table, ids, problem):
    with pytest.raises(ValueError, match=problem):
        Rankings.of_similarity(np.array(table, np.float32), *ids)


@pytest.mark.parametrize("kept", [[True, False, True], [False, False, False]])
def test_a_part_of_the_queries_keeps_its_judgments(kept):
    judged = {1: {5: 0.5}, 2: {6: 1.0, 7: 0.0}, 3: {8: 1.0, 9: 1.0}}
    part = Qrels.of(judged).of_queries(np.array(kept))
    expected = Qrels.of({query: one for (query, one), keep in zip(judged.items(), kept, strict=True) if keep})
    for one, other in zip(vars(part).values(), vars(expected).values(), strict=False):
        np.testing.assert_array_equal(one, other)
