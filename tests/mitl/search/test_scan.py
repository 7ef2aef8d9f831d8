"""Scan and merge: any grid of parts, merged in any order, gives the lists of one exact search, bit by bit."""

from functools import reduce

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.files.stored_files import Part
from counterpart_topk import bidirectional_topk
from counterpart_topk.ranking import NOWHERE, Ranking, empty_ranking
from mitl.search.scan import merge, scan
from topk_inputs import with_duplicates


def cut(rows: np.ndarray, edges) -> list[Part]:
    edges = [0, *sorted(edges), len(rows)]
    return [Part("", "", a, b - a) for a, b in zip(edges, edges[1:], strict=False)]


def scanned(queries, items, part: Part, k: int) -> Ranking:
    return scan(part, queries, k, lambda part: items[part.first : part.first + part.rows])


@settings(max_examples=8, deadline=None)
@given(st.sets(st.integers(1, 299), max_size=6), st.randoms(use_true_random=False))
def test_parts_scanned_apart_and_merged_in_any_order_are_the_very_same_bits(edges, shuffler):
    images, captions = with_duplicates(np.random.default_rng(8))
    whole = bidirectional_topk(images, captions, 25)
    found = [scanned(captions, images, part, 25) for part in cut(images, edges)]
    shuffler.shuffle(found)
    merged = reduce(merge, found)
    assert merged.places.tobytes() == whole.t2i_indices.tobytes()
    assert merged.scores.tobytes() == whole.t2i_scores.tobytes()


def test_a_part_with_fewer_items_than_places_leaves_the_rest_empty():
    found = scanned(np.eye(2), np.eye(2), Part("", "", 1, 1), 3)
    assert found.places.tolist() == [[1, NOWHERE, NOWHERE]] * 2
    assert found.scores.tolist() == [[0, -np.inf, -np.inf], [1, -np.inf, -np.inf]]


def test_items_of_several_embeddings_are_scanned_by_their_best_pair():
    rng = np.random.default_rng(3)
    images, captions = rng.standard_normal((40, 2, 5)), rng.standard_normal((30, 3, 5))
    whole = bidirectional_topk(images, captions, 4)
    merged = reduce(merge, [scanned(images, captions, part, 4) for part in cut(captions, {7, 19})])
    assert merged.places.tolist() == whole.i2t_indices.tolist()
    assert merged.scores.tobytes() == whole.i2t_scores.tobytes()


@st.composite
def three_rankings(draw) -> list[Ranking]:
    """Rankings of two queries that share no place, with scores of which many are equal."""
    k = draw(st.integers(1, 4))
    rankings = []
    for number in range(3):
        ranking = empty_ranking(2, k)
        for query in range(2):
            scores = sorted(draw(st.lists(st.integers(0, 2), max_size=k)), reverse=True)
            places = range(number, 3 * len(scores), 3)
            ranking.places[query, : len(scores)], ranking.scores[query, : len(scores)] = list(places), scores
        rankings.append(ranking)
    return rankings


def lists_of(ranking: Ranking) -> tuple[list, list]:
    return ranking.places.tolist(), ranking.scores.tolist()


def best_by_hand(rankings: list[Ranking]) -> tuple[list, list]:
    """The slow reference: all entries of a query, sorted."""
    k = rankings[0].places.shape[1]
    places, scores = [], []
    for query in range(2):
        entries = [
            (-score, place)
            for one in rankings
            for place, score in zip(one.places[query].tolist(), one.scores[query].tolist(), strict=True)
            if place != NOWHERE
        ]
        best = (sorted(entries) + [(np.inf, NOWHERE)] * k)[:k]
        places.append([place for _, place in best])
        scores.append([-score for score, _ in best])
    return places, scores


@settings(max_examples=50, deadline=None)
@given(three_rankings())
def test_merge_is_associative_and_commutative_and_keeps_the_best(rankings):
    a, b, c = rankings
    expected = best_by_hand(rankings)
    for merged in (merge(merge(a, b), c), merge(a, merge(b, c)), merge(c, merge(b, a))):
        assert lists_of(merged) == expected
    assert lists_of(merge(a, empty_ranking(*a.places.shape))) == lists_of(a)
