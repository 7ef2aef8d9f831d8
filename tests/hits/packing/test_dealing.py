"""Decks of gold controls, and drawing uniformly outside a set."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import CounterpartError
from corpus.models import Collection, Image, Match
from hits.packing.dealing import Deck, Table, deal_controls, draw_outside
from hits.packing.designs import Design
from hits.packing.plan import NEGATIVE, POSITIVE, ROLES, Items
from hits.pair_plans import number_collection
from tests.factories import make_collection

SMALL = Design("small", candidates=2, positives=1, negatives=1)


def deck(*pairs, seed=0):
    return Deck(np.array(pairs, np.int64).reshape(-1, 2), np.random.default_rng(seed))


def table(*pairs):
    return Table([image for image, _ in pairs], [caption for _, caption in pairs])


def deal(hits, pairs, *, design=SMALL, positives, negatives, sharing="avoid"):
    images, captions = np.array(pairs, np.int64).T
    candidates = Items(np.array(hits), images, captions, np.zeros(len(hits), np.int64))
    decks = {POSITIVE: deck(*positives), NEGATIVE: deck(*negatives)}
    dealt = deal_controls(candidates, design=design, decks=decks, sharing=sharing)
    return [(hit, (image, caption), ROLES[role]) for hit, image, caption, role in np.stack(dealt, axis=1).tolist()]


@settings(max_examples=50, deadline=None)
@given(
    gold=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8),
    laid=st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=3), max_size=20),
    sharing=st.sampled_from(["avoid", "allow"]),
)
def test_a_deck_deals_as_one_that_looks_through_all_its_cards(gold, laid, sharing):
    """The slow witness: of the cards that fit, the one that was dealt least often, then of the lowest random turn."""
    cards, rng = deck(*sorted(gold), seed=3), np.random.default_rng(3)
    numbers = iter(rng.random(1_024).tolist())
    turns = {pair: next(numbers) for pair in sorted(gold)}
    for pairs in laid:
        absent = [pair for pair in turns if pair not in pairs]
        free = [pair for pair in absent if not shares(pair, pairs)]
        fits = free if free and sharing == "avoid" else absent
        wanted = min(fits, key=turns.get, default=None)
        if wanted:
            turns[wanted] = int(turns[wanted]) + 1 + next(numbers)
        assert cards.deal(table(*pairs), sharing) == wanted


def test_a_short_hit_is_topped_up_with_both_kinds_in_turn():
    design = Design("wide", candidates=4, positives=1, negatives=1)
    gold = {"positives": [(n, n) for n in range(5, 10)], "negatives": [(n, n + 1) for n in range(11, 18, 2)]}
    dealt = deal([0], [(0, 0)], design=design, **gold)
    assert [polarity for _, _, polarity in dealt] == [POSITIVE, NEGATIVE, POSITIVE, NEGATIVE, POSITIVE]
    assert len({pair for _, pair, _ in dealt}) == 5


def test_topping_up_takes_the_other_kind_where_one_is_used_up():
    design = Design("wide", candidates=3, positives=1, negatives=1)
    dealt = deal([0], [(0, 0)], design=design, positives=[(5, 5)], negatives=[(6, 7), (8, 9), (10, 11)])
    assert [polarity for _, _, polarity in dealt] == [POSITIVE, NEGATIVE, NEGATIVE, NEGATIVE]


def test_a_hit_that_holds_every_control_already_is_an_error():
    with pytest.raises(CounterpartError, match="HIT 1: all 1 positive"):
        deal([0, 0], [(0, 0), (1, 1)], positives=[(0, 0)], negatives=[(5, 6)])


PAIRS = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=12, max_size=40)


@settings(max_examples=50, deadline=None)
@given(candidates=PAIRS, gold=PAIRS, sharing=st.sampled_from(["avoid", "allow"]))
def test_hits_are_full_of_different_pairs_and_share_only_what_they_must(candidates, gold, sharing):
    design, pairs = Design("any", 3, 1, 1), sorted(candidates)
    hits = [number // 3 for number in range(len(pairs))]
    positives, negatives = sorted(gold)[::2], sorted(gold)[1::2]
    dealt = deal(hits, pairs, design=design, positives=positives, negatives=negatives, sharing=sharing)
    for hit in set(hits):
        items = [pair for pair, at in zip(pairs, hits, strict=True) if at == hit]
        for pair, polarity in ((pair, polarity) for at, pair, polarity in dealt if at == hit):
            deck_of = positives if polarity == POSITIVE else negatives
            if sharing == "avoid" and shares(pair, items):
                assert all(shares(other, items) for other in deck_of)
            assert pair in deck_of
            items.append(pair)
        assert len(set(items)) == design.size


def shares(pair, items):
    return any(pair[0] == image or pair[1] == caption for image, caption in items)


def test_numbers_outside_a_set_are_drawn_all_and_only():
    drawn = draw_outside(np.array([0, 3, 4, 9]), 10, 100, np.random.default_rng(0))
    assert sorted(drawn.tolist()) == [1, 2, 5, 6, 7, 8]


def test_drawing_from_a_huge_range_takes_memory_for_what_is_drawn_and_excluded_alone():
    tracemalloc.start()
    drawn = draw_outside(np.arange(0, 10**10, 10**6), 10**10, 10_000, np.random.default_rng(0))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(set(drawn.tolist())) == 10_000
    assert (drawn % 10**6 != 0).all()
    assert peak < 10e6


def test_numbers_outside_a_set_are_equally_likely():
    rng = np.random.default_rng(1)
    drawn = Counter(int(draw_outside(np.array([2, 3]), 6, 1, rng)[0]) for _ in range(4_000))
    assert set(drawn) == {0, 1, 4, 5}
    assert all(abs(count - 1_000) < 5 * np.sqrt(750) for count in drawn.values())


@settings(max_examples=30, deadline=None)
@given(gold=st.integers(2, 12), hits=st.integers(1, 40), seed=st.integers(0, 9))
def test_no_control_is_shown_more_often_than_an_even_deal_needs(gold, hits, seed):
    """The cap on a control's exposure: HITs times controls a HIT, over the controls there are, rounded up."""
    cards = deck(*((n, n) for n in range(gold)), seed=seed)
    shown = Counter(cards.deal(table((100, 100)), "avoid") for _ in range(hits))
    assert max(shown.values()) == -(-hits // gold)
    assert max(shown.values()) - min(shown.values() if len(shown) == gold else [0]) <= 1


# Codes that depend on external keys alone


def test_rows_are_numbered_in_the_order_of_their_keys_as_text(db):
    collection = Collection.objects.create(name="zoo")
    for key in ("b", "10", "9", "a"):
        Image.objects.create(collection=collection, key=key, file_name=key)
    images = number_collection(collection).images
    assert images.keys == ["10", "9", "a", "b"]
    assert [Image.objects.get(pk=pk).key for pk in images.ids.tolist()] == images.keys


def test_ids_become_codes_in_any_shape_and_unknown_ones_minus_one(db):
    images = number_collection(make_collection(images=3)).images
    ids = np.array([[images.ids[2], 0], [images.ids[0], 10**9]])
    assert images.codes(ids).tolist() == [[2, -1], [0, -1]]


def test_pairs_are_coded_once_and_in_order(db):
    collection = make_collection(images=2, captions_each=1)
    sides = number_collection(collection)
    rows = list(Match.objects.values_list("image_id", "caption_id"))
    assert sides.pair_codes(rows[::-1] + rows).tolist() == [[0, 0], [1, 1]]
    assert sides.pair_codes([]).tolist() == []
