"""HITs in which captions are written: a sample's images, five in a HIT, without captions and controls."""

from collections import Counter

import pytest
from django.core.management import CommandError, call_command

from core.errors import CounterpartError
from corpus.samples import sample_queries
from hits.models import Control, Item, Round, Seat
from mitl.models import Pool
from mitl.pooling import pool_sample
from tests.commands import figures_printed
from tests.factories import make_collection
from tests.hits.pools import mirror_of, pack, pool_of

pytestmark = pytest.mark.django_db


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
    assert (figures["pictures"], figures["seats"], figures["cost_browser"]) == (7, 10, "6.50")
    call_command("pack", "r", "--sample", "queries", "--task", "caption", "--seed", "3")
    assert Round.objects.count() == 1


def test_a_sample_is_refused_where_the_task_asks_about_a_pool(sample):
    with pytest.raises(CommandError, match="task levels asks about"):
        call_command("pack", "r", "--sample", "queries")
    assert not Pool.objects.exists()
