"""Which pairs may be controls: originals of the queries, and pairs that no annotator ranked high."""

from collections import Counter

import numpy as np
import pytest

from core.errors import CounterpartError
from corpus.models import Match, Sample
from hits.controls import Avoided, original_pairs, unlisted_pairs
from hits.pair_plans import number_collection
from tests.factories import make_collection, make_pool, make_sample
from tests.hits.gold import NOTHING, ids, listed, negatives
from tests.hits.pools import pool_of


def everything(pool):
    images, captions = (
        side.values_list("pk", flat=True) for side in (pool.collection.images, pool.collection.captions)
    )
    return {(image, caption) for image in images for caption in captions}


def test_negatives_are_all_and_only_the_pairs_outside_every_list(db):
    pool = pool_of(12, images=8)
    assert negatives(pool) == everything(pool) - listed(pool)


def test_every_pair_outside_the_lists_is_drawn_equally_often(db):
    """Half of them at a time, 150 times: the counts spread as those of independent fair draws, no less evenly."""
    pool = pool_of(12, images=8)
    pool.control_depth = 2
    pool.sample.images.remove(*pool.collection.images.all()[:2])
    queries = set(pool.sample.images.values_list("pk", flat=True))
    allowed = {pair for pair in everything(pool) - listed(pool) if pair[0] in queries}
    sides = number_collection(pool.collection)
    unlisted = unlisted_pairs(pool, sides, known=NOTHING, avoided=Avoided.of([], sides))
    drawn, half = Counter(), len(allowed) // 2
    for seed in range(150):
        drawn.update(ids(sides, unlisted.draw(half, np.random.default_rng(seed))))
    assert set(drawn) == allowed
    share = half / len(allowed)
    deviations = (np.array([*drawn.values()]) - 150 * share) / np.sqrt(150 * share * (1 - share))
    assert np.abs(deviations).max() < 4
    assert (deviations**2).sum() < len(allowed) + 4 * np.sqrt(2 * len(allowed))


@pytest.mark.parametrize(
    ("directions", "asks_images", "asks_captions"),
    [(["i2t", "t2i"], True, True), (["i2t"], True, False), (["t2i"], False, True)],
)
def test_negatives_are_drawn_where_every_list_is_known(db, directions, asks_images, asks_captions):
    pool = pool_of(12, images=8)
    pool.directions, pool.control_depth = directions, 2
    pool.sample.images.remove(*pool.collection.images.all()[:3])
    pool.sample.captions.remove(*pool.collection.captions.all()[:5])
    images, captions = (set(side.values_list("pk", flat=True)) for side in (pool.sample.images, pool.sample.captions))
    known = {
        (image, caption)
        for image, caption in everything(pool)
        if (image in images or not asks_images) and (caption in captions or not asks_captions)
    }
    assert negatives(pool) == known - listed(pool)


def test_a_pool_whose_lists_name_everything_has_no_negative(db):
    pool = make_pool(make_sample(make_collection(images=2)))
    known = np.array([(image, caption) for image in range(2) for caption in range(4)])
    with pytest.raises(CounterpartError, match="no negative control: all 8"):
        negatives(pool, known=known)


def test_what_is_avoided_is_kept_out_whole_sides_and_single_pairs(db):
    pool = pool_of(12, images=8)
    image, caption = pool.collection.images.all()[2], pool.collection.captions.all()[9]
    left = {pair for pair in negatives(pool) if image.pk != pair[0] and caption.pk != pair[1]}
    one = min(left)
    pair = [pool.collection.images.get(pk=one[0]).key, pool.collection.captions.get(pk=one[1]).key]
    assert negatives(pool, avoided=[[image.key, None], [None, caption.key], pair]) == left - {one}


def test_positives_are_the_originals_of_query_images_and_query_captions(db):
    collection = make_collection(images=4)
    sample = Sample.objects.create(name="few", collection=collection, seed=0)
    first, *_, last = collection.images.all()
    sample.images.add(first)
    sample.captions.add(last.captions.all()[0])
    sides = number_collection(collection)
    wanted = {(first.pk, caption.pk) for caption in first.captions.all()} | {(last.pk, last.captions.all()[0].pk)}
    assert ids(sides, original_pairs(sample, sides)) == wanted


def test_other_sources_of_matches_never_become_positives(db):
    collection = make_collection(images=3)
    stranger = collection.captions.exclude(image=collection.images.first()).first()
    Match.objects.create(
        collection=collection, image=collection.images.first(), caption=stranger, source="truth", grade=1
    )
    sides = number_collection(collection)
    assert len(original_pairs(make_sample(collection), sides)) == 6
