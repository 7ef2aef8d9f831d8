"""Controls that would mislead: negative ones that a source calls a match, positive ones that the round asks about."""

import numpy as np
import pytest

from corpus.models import Match
from dataset.releases.packing_replay import check_packing
from hits.models import Round
from hits.pair_plans import newest_of
from hits.rounds.packed_rounds import figures_of
from mitl.models import Pool
from tests.factories import make_annotator, make_collection, make_pool, make_retrieval, make_sample
from tests.hits.pools import SMALL, pack

pytestmark = pytest.mark.django_db


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
