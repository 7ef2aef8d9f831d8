"""HITs in which captions are written: a sample's images, five in a HIT, without captions and controls."""

import json
from collections import Counter

import pytest
from django.core.management import CommandError, call_command

from core.errors import CounterpartError
from corpus.samples import sample_queries
from hits.models import Control, Item, Round, Seat
from hits.rounds.plan_estimates import estimate_round
from hits.rounds.round_parameters import PackParameters
from mitl.models import Pool
from mitl.pooling import pool_sample
from tests.factories import make_collection
from tests.hits.captions import pack_captions
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
    assert {name: packed.summary[name] for name in ("pairs", "hits", "shared_images", "shared_captions")} == {
        "pairs": 7,
        "hits": 2,
        "shared_images": 0,
        "shared_captions": 0,
    }


def test_five_captions_an_image_are_wanted_unless_the_round_says_so(sample):
    pool = pool_sample(sample, actor="x")
    assert Seat.objects.filter(round=pack("five", pool, task="caption")).count() == 10
    assert Seat.objects.filter(round=pack("two", pool, task="caption", replication=2)).count() == 4


def test_the_images_are_those_of_the_sample_whatever_the_pool_holds():
    pool = pool_of(40, images=30)
    packed = pack("r", pool, task="caption")
    assert packed.summary["pairs"] == pool.sample.images.count() == 30


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
    with pytest.raises(CounterpartError, match="The sample captions has no query images"):
        pool_sample(captions, actor="x")


def test_the_pool_of_a_sample_is_made_once(sample):
    assert pool_sample(sample, actor="x") == pool_sample(sample, actor="x")
    assert str(Pool.objects.get()) == "queries-images"


def test_no_other_task_is_packed_from_a_sample_alone(sample):
    with pytest.raises(CounterpartError, match="holds 0 pairs"):
        pack("r", pool_sample(sample, actor="x"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"reasons": True}, "asks for none"),
        ({"top_up": 1}, "does not ask about one pair at a time"),
        ({"design": "eccv-18"}, "Leave --design out"),
        ({"positives": "v1"}, "needs none"),
    ],
)
def test_what_the_task_does_not_know_is_refused(wrong, message):
    with pytest.raises(CounterpartError, match=message):
        pack_captions(**wrong)


def test_the_estimate_counts_the_images(sample):
    pool = pool_sample(sample, actor="x")
    estimate = estimate_round(pool, PackParameters(task="caption", reward="1.00"))
    assert (estimate.hits, estimate.cost) == (2, 10)


def test_the_command_packs_a_sample(sample, capsys):
    call_command("pack", "r", "--sample", "queries", "--task", "caption", "--seed", "3", "--json")
    figures = json.loads(capsys.readouterr().out)
    assert (figures["pictures"], figures["seats"], figures["cost_browser"]) == (7, 10, "6.50")
    call_command("pack", "r", "--sample", "queries", "--task", "caption", "--seed", "3")
    assert Round.objects.count() == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sample", "queries"], "The task levels asks about a pool: pass --pool in place of --sample"),
        (["--sample", "none", "--task", "caption"], "There is no sample 'none'"),
        (["--sample", "queries", "--task", "caption", "--ceiling", "1"], "above the ceiling"),
        (["--sample", "queries", "--pool", "p", "--task", "caption"], "not allowed with"),
        (["--task", "caption"], "one of the arguments --pool --sample is required"),
    ],
)
def test_a_command_that_cannot_pack_changes_nothing(sample, options, message):
    with pytest.raises(CommandError, match=message):
        call_command("pack", "r", *options)
    assert not Pool.objects.exists()
