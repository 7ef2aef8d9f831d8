"""Rounds that ask part of a pool: the first hits of its annotators, or whole queries of an audit."""

import pytest
from django.db.models import Count

from core.errors import CounterpartError
from hits.designs import Design
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Item
from hits.rounds import figures_of
from mitl.models import Direction
from tests.evaluation.worlds import SMALL, known_pool
from tests.hits.pools import mirror_of, pack, pool_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool():
    return known_pool()


def asked_pairs(made):
    return set(Item.objects.filter(hit__round=made, control=None).values_list("image", "caption"))


def pooled_pairs(pool):
    return set(pool.proposals.values_list("image", "caption"))


def test_an_audit_asks_every_pooled_pair_of_the_queries_that_it_drew_and_no_other(pool):
    made = pack("audit", pool, design=SMALL, judge="audit", audit_share=0.25)
    drawn = audited_queries(pool, JudgeDesign("audit", 0.25), made.seed)
    images, captions = (set(drawn[direction].values()) for direction in Direction)
    assert (len(images), len(captions)) == (4, 4)  # a quarter of 14, rounded up
    expected = {(image, caption) for image, caption in pooled_pairs(pool) if image in images or caption in captions}
    assert asked_pairs(made) == expected
    assert len(expected) < len(pooled_pairs(pool))


def test_images_and_captions_are_drawn_by_themselves(pool):
    """As exports say of a pair of two queries: it is asked with probability 1 - (1 - a)²."""
    design = JudgeDesign("audit", 0.5)
    image = min(pool.sample.images.values_list("key", flat=True))
    caption = min(pool.sample.captions.values_list("key", flat=True))
    asked = []
    for seed in range(200):
        images, captions = (audited_queries(pool, design, seed)[direction] for direction in Direction)
        asked.append(image in images or caption in captions)
    assert sum(asked) / 200 == pytest.approx(0.75, abs=0.08)


def test_the_round_keeps_its_design_and_prints_it(pool):
    made = pack("audit", pool, design=SMALL, judge="audit", audit_share=0.25)
    assert made.summary["judge"] == {"judge": "audit", "share": 0.25, "greedy": False, "policy": 1}
    figures = figures_of(made)
    assert (figures["judge"], figures["audit_share"]) == ("audit", 0.25)
    assert figures["unasked_pairs"] == len(pooled_pairs(pool)) - figures["pairs"]
    assert "judge" not in pack("all", pool, design=SMALL).summary


def test_a_longer_audit_of_the_same_seed_continues_the_shorter_one(pool):
    short = pack("short", pool, design=SMALL, judge="audit", audit_share=0.25)
    longer = pack("longer", pool, design=SMALL, judge="audit", audit_share=0.5)
    assert asked_pairs(short) < asked_pairs(longer)


def test_the_same_audit_is_packed_in_every_database():
    pool = pool_of()
    parameters = {"design": SMALL, "judge": "audit", "audit_share": 0.5, "seed": 3}
    assert pack("here", pool, **parameters).plan_hash == pack("there", mirror_of(pool), **parameters).plan_hash


def test_the_first_hits_of_an_audit_ask_its_first_queries(pool):
    """So that they are judged whole, and estimated from, while later ones wait for workers."""
    made = pack("audit", pool, design=Design("tiny", 2, 1, 1), judge="audit", audit_share=0.5, seed=1)
    drawn = audited_queries(pool, JudgeDesign("audit", 0.5), 1)
    last_hits = {
        direction: [
            Item.objects.filter(hit__round=made, control=None, **{side: pk}).latest("hit__number").hit.number
            for pk in queries.values()
        ]
        for (direction, queries), side in zip(drawn.items(), ("image", "caption"), strict=True)
    }
    n_hits = made.hits.count()
    for numbers in last_hits.values():
        assert numbers[0] < n_hits / 2
        assert max(numbers) > n_hits * 0.8
    shared = (
        Item.objects.filter(hit__round=made, control=None)
        .values("hit", "image")
        .annotate(n=Count("pk"))
        .filter(n__gt=1)
    )
    assert not shared.exists()
    assert made.summary["hits"] == -(-made.summary["pairs"] // 2)


def test_first_hits_are_the_pairs_that_some_annotator_ranks_first(pool):
    made = pack("first", pool, design=SMALL, judge="first-hits")
    assert asked_pairs(made) == set(pool.proposals.filter(rank=1).values_list("image", "caption"))


def test_packing_again_with_another_design_is_refused(pool):
    pack("audit", pool, design=SMALL, judge="audit", audit_share=0.25)
    assert pack("audit", pool, design=SMALL, judge="audit", audit_share=0.25).name == "audit"
    with pytest.raises(CounterpartError, match="already exists with a different"):
        pack("audit", pool, design=SMALL, judge="audit", audit_share=0.5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"judge": "first-hits", "audit_share": 0.5}, "only --judge audit judges a share of the queries"),
        ({"judge": "audit", "task": "checkbox"}, "the task checkbox asks about all of a pool"),
        ({"judge": "some"}, "judge"),
        ({"judge": "audit", "audit_share": 1.5}, "Invalid audit share 1.5"),
    ],
)
def test_designs_that_cannot_be_are_refused(pool, parameters, message):
    with pytest.raises(CounterpartError, match=message):
        pack("refused", pool, **parameters)


def test_an_audit_too_small_for_a_hit_is_refused_and_nothing_is_written(pool):
    with pytest.raises(CounterpartError, match=r"asks \d+ pairs of the pool pool, fewer than the 40 .* Raise --audit"):
        pack("small", pool, design=Design("large", 40, 1, 1), judge="audit", audit_share=0.05)
    assert not pool.rounds.exists()
