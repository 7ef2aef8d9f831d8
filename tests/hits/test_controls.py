"""Which pairs may be controls: originals of the queries, and pairs that no annotator ranked high."""

from collections import Counter

import numpy as np
import pytest

from core.errors import CounterpartError
from corpus.models import Match, Sample
from dataset.releases.packing_replay import check_packing
from hits.controls import Avoided, original_pairs, unlisted_pairs
from hits.models import Round
from hits.pair_plans import newest_of, number_collection
from hits.rounds.packed_rounds import figures_of
from mitl.models import Pool
from tests.factories import make_annotator, make_collection, make_pool, make_retrieval, make_sample
from tests.hits.gold import NOTHING, ids, listed, negatives
from tests.hits.pools import SMALL, pack, pool_of

pytestmark = pytest.mark.django_db


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


# Controls that would mislead: negative ones that a source calls a match, positive ones that the round asks about


def pool_with_originals(asked: int, *, images: int = 20, seed: int = 0) -> Pool:
    """The first two captions of the first images, ``asked`` original pairs, and one foreign pair for each image; two
    thirds of the pairs of the images with foreign captions are matches of the source "eccv"."""
    zoo = make_collection(f"zoo-{seed}", images=images, captions_each=2)
    sample = make_sample(zoo, f"queries-{seed}")
    retrieval = make_retrieval(make_annotator(f"one-{seed}"), sample, seed=seed)
    pictures, captions = list(zoo.images.order_by("pk")), list(zoo.captions.order_by("pk"))
    originals = [(pictures[number // 2], captions[number]) for number in range(asked)]
    foreign = [(pictures[one], captions[(2 * one + 2) % len(captions)]) for one in range(images)]
    rng = np.random.default_rng(seed)
    known = [
        Match(collection=zoo, source="eccv", image=image, caption=caption, score=rng.integers(5))
        for image in pictures
        for caption in captions
        if caption.image_id != image.pk and rng.random() < 2 / 3
    ]
    Match.objects.bulk_create(known)
    return make_pool(sample, [retrieval], name=f"pool-{seed}", pairs=originals + foreign)


def controls(packed: Round, polarity: str) -> set[tuple[int, int]]:
    return set(packed.controls.filter(polarity=polarity).values_list("image", "caption"))


def candidates(packed: Round) -> set[tuple[int, int]]:
    rows = packed.hits.values_list("items__image", "items__caption", "items__control")
    return {(image, caption) for image, caption, control in rows if control is None}


def replay(packed: Round) -> list[str]:
    return check_packing(packed, {"plan_hash": packed.plan_hash, "top_ups": []}).problems


@pytest.mark.parametrize("seed", [0, 3, 7])
def test_no_negative_control_is_known_to_a_source_and_no_positive_one_is_asked_by_the_round(seed):
    asked = 2 * seed  # of 40 original pairs
    pool = pool_with_originals(asked, seed=seed)
    packed = pack("r", pool, design=SMALL, seed=seed)
    assert not controls(packed, "negative") & set(Match.objects.values_list("image", "caption"))
    assert not controls(packed, "positive") & candidates(packed)
    assert "positives_asked" not in figures_of(packed)
    assert pack("r", pool, design=SMALL, seed=seed) == packed
    assert pack("again", pool, design=SMALL, seed=seed).plan_hash == packed.plan_hash
    assert replay(packed) == []


def test_where_other_originals_are_too_few_the_controls_that_are_asked_are_counted():
    """All 40 original pairs are asked, with 20 others: 15 HITs of 4, and a positive control in each is a candidate."""
    packed = pack("r", pool_with_originals(40), design=SMALL)
    assert (packed.summary["hits"], packed.summary["positives_asked"]) == (15, 15)
    assert figures_of(packed)["positives_asked"] == 15


def test_only_as_many_asked_originals_are_spared_as_the_hits_can_spare():
    """36 original pairs and 20 others are 14 HITs: they want 14 positive controls and up to 4 more; 4 are not asked."""
    packed = pack("r", pool_with_originals(36), design=SMALL)
    assert len(controls(packed, "positive")) == 14, "no control is shown twice"
    assert 10 <= packed.summary["positives_asked"] < 14


def test_a_source_that_comes_later_does_not_change_how_a_round_is_packed_again():
    pool = pool_with_originals(6)
    packed = pack("r", pool, design=SMALL)
    image, caption = next(iter(controls(packed, "negative")))
    Match.objects.create(collection=pool.collection, source="later", image_id=image, caption_id=caption)
    assert replay(packed) == []


def test_a_round_that_was_packed_before_this_rule_is_packed_again_by_the_old_one(monkeypatch):
    def without_matches(held):
        return {name: newest for name, newest in newest_of(held).items() if name != "matches"}

    monkeypatch.setattr("hits.rounds.packed_rounds.newest_of", without_matches)
    old = pack("old", pool_with_originals(16), design=SMALL)
    monkeypatch.undo()
    assert controls(old, "negative") & set(Match.objects.values_list("image", "caption"))
    assert old.summary["positives_asked"]
    assert replay(old) == []
