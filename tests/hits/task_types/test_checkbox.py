"""Check boxes (Hodosh et al. 2013), six images of a HIT with ten captions each, one of them a control; and written
captions."""

from collections import Counter, defaultdict

import pytest
from django.core.management import CommandError, call_command

from core.errors import CounterpartError
from corpus.models import Match
from corpus.samples import sample_queries
from hits.models import Control, Item, Round, Seat
from hits.task_types.checkbox import CHECKBOX
from mitl.models import Pool
from mitl.pooling import pool_sample
from tests.commands import figures_printed
from tests.factories import make_collection
from tests.hits.gold import listed
from tests.hits.pools import mirror_of, pack, pack_boxes, pool_of, pool_of_boxes

pytestmark = pytest.mark.django_db


def screens_of(packed):
    """The items of each screen by HIT: ten places each."""
    screens = defaultdict(list)
    for item in Item.objects.filter(hit__round=packed).select_related("control", "hit").order_by("hit", "place"):
        screens[item.hit.number, (item.place - 1) // 10].append(item)
    return screens


def is_control(screen):
    return any(item.control for item in screen)


def test_a_hit_has_six_images_of_ten_captions_and_one_of_them_is_a_control(db):
    screens = screens_of(pack_boxes(pool=pool_of_boxes(asked=10)))
    assert len(screens) == 12
    for hit in (1, 2):
        of_hit = [screen for (number, _), screen in screens.items() if number == hit]
        assert [len(screen) for screen in of_hit] == [10] * 6
        assert [len({item.image_id for item in screen}) for screen in of_hit] == [1] * 6
        assert len({screen[0].image_id for screen in of_hit}) == 6
        assert sum(map(is_control, of_hit)) == 1
        assert all(all(item.control for item in screen) for screen in of_hit if is_control(screen))


def test_a_control_has_one_to_three_of_its_own_captions_and_others_that_no_list_has(db):
    pool = pool_of_boxes(asked=10, images=20)
    own = set(Match.objects.filter(source="original").values_list("image", "caption"))
    for seed in range(5):
        packed = pack(f"r-{seed}", pool, task="checkbox", seed=seed)
        for screen in filter(is_control, screens_of(packed).values()):
            true = {(item.image_id, item.caption_id) for item in screen if item.control.polarity == "positive"}
            false = {(item.image_id, item.caption_id) for item in screen} - true
            assert 1 <= len(true) <= 3
            assert true <= own
            assert not false & (own | listed(pool))


def test_every_pair_of_the_pool_is_asked_once_and_the_captions_of_an_image_are_filled_up_to_ten(db):
    pool = pool_of_boxes(asked=8, each=7)
    packed = pack_boxes(pool=pool)
    asked = list(Item.objects.filter(hit__round=packed, control=None).values_list("image", "caption"))
    pooled = set(pool.proposals.values_list("image", "caption"))
    assert len(asked) == len(set(asked)) == 80
    assert pooled <= set(asked)
    assert set(Counter(image for image, _ in asked).values()) == {10}
    assert not (set(asked) - pooled) & set(Match.objects.values_list("image", "caption"))
    assert (packed.summary["pairs"], packed.summary["padded"]) == (80, 24)
    assert "excluded_pairs" not in packed.summary


def test_the_last_hit_is_filled_up_with_controls(db):
    screens = screens_of(pack_boxes(pool=pool_of_boxes(asked=6)))
    controls = Counter(hit for (hit, _), screen in screens.items() if is_control(screen))
    assert controls == {1: 1, 2: 5}


def test_an_image_with_many_captions_is_once_in_a_hit(db):
    screens = screens_of(pack_boxes(pool=pool_of_boxes(asked=5, each=20)))
    images = Counter((hit, screen[0].image_id) for (hit, _), screen in screens.items() if not is_control(screen))
    assert len(images) == 10


def test_the_same_seed_gives_the_same_plan_in_another_database(db):
    pool = pool_of_boxes(asked=7, each=12)
    here, there, other = (
        pack(name, one, task="checkbox", seed=seed)
        for name, one, seed in (("here", pool, 3), ("there", mirror_of(pool), 3), ("other", pool, 4))
    )
    assert here.plan_hash == there.plan_hash != other.plan_hash


def test_three_workers_are_wanted_unless_the_round_says_so(db):
    assert pack_boxes(pool=pool_of_boxes()).replication == 3
    assert pack("five", pool_of_boxes(name="five"), task="checkbox", replication=5).replication == 5


def test_too_few_pairs_captions_or_controls_are_refused(db):
    with pytest.raises(CounterpartError, match="49 pairs, fewer than the 50"):
        pack("r", pool_of(49), task="checkbox")
    with pytest.raises(CounterpartError, match="too few captions"):
        pack("s", pool_of_boxes(asked=4, each=15, images=8, name="few"), task="checkbox")
    with pytest.raises(CounterpartError, match="Not enough controls for HIT 1"):
        pack("t", pool_of_boxes(asked=7, each=8, images=7, name="poor"), task="checkbox")


def test_the_score_of_a_pair_is_its_share_of_yes():
    assert CHECKBOX.score([[2 / 3, 0, 0, 1 / 3], [0, 0, 0, 1]]).tolist() == [2 / 3, 0]


def test_each_level_is_nearest_to_one_answer():
    assert [CHECKBOX.nearest(level) for level in (1, 2, 3, 4)] == [1, 1, 4, 4]


# HITs in which captions are written: a sample's images, five in a HIT, without captions and controls


@pytest.fixture
def sample():
    return sample_queries("queries", collection=make_collection(images=12), images=7, captions=2)


def test_every_image_of_the_sample_is_asked_about_once_without_a_caption(sample):
    packed = pack("r", pool_sample(sample, actor="x"), task="caption")
    asked = Item.objects.filter(hit__round=packed)
    assert Counter(asked.values_list("image", flat=True)) == Counter(sample.images.values_list("pk", flat=True))
    assert not asked.exclude(caption=None).exists()
    assert [hit.items.count() for hit in packed.hits.all()] == [5, 2]
    assert not Control.objects.exists()
    figures = [packed.summary[name] for name in ("pairs", "hits", "shared_images", "shared_captions")]
    assert figures == [7, 2, 0, 0]


def test_five_captions_an_image_are_wanted_unless_the_round_says_so(sample):
    pool = pool_sample(sample, actor="x")
    assert Seat.objects.filter(round=pack("five", pool, task="caption")).count() == 10
    assert Seat.objects.filter(round=pack("two", pool, task="caption", replication=2)).count() == 4


def test_the_plan_is_the_same_in_another_database_and_the_seed_changes_it():
    pool = pool_of(40)
    hashes = [
        pack(name, one, task="caption", seed=seed).plan_hash
        for name, one, seed in (("here", pool, 1), ("there", mirror_of(pool), 1), ("other", pool, 2))
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_an_excluded_image_is_left_out(sample):
    sample.images.filter(pk=sample.images.first().pk).update(excluded_at="2026-01-01T00:00Z")
    assert pack("r", pool_sample(sample, actor="x"), task="caption").summary["pairs"] == 6


def test_a_sample_without_images_is_refused():
    captions = sample_queries("captions", collection=make_collection(), images=0, captions=2)
    with pytest.raises(CounterpartError, match="captions has no query images"):
        pool_sample(captions, actor="x")


def test_the_command_packs_a_sample(sample):
    figures = figures_printed("pack", "r", "--sample", "queries", "--task", "caption", "--seed", "3")
    assert (figures["pictures"], figures["seats"], figures["cost_browser"]) == (7, 10, "15.00")
    call_command("pack", "r", "--sample", "queries", "--task", "caption", "--seed", "3")
    assert Round.objects.count() == 1


def test_a_sample_is_refused_where_the_task_asks_about_a_pool(sample):
    with pytest.raises(CommandError, match="task levels asks about"):
        call_command("pack", "r", "--sample", "queries")
    assert not Pool.objects.exists()
