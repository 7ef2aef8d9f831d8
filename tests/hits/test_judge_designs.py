"""Rounds that ask part of a pool: the first hits of its annotators, or whole queries of an audit."""

import pytest
from django.db.models import Count

from core.errors import CounterpartError
from hits.judge_designs import JudgeDesign, audited_queries, guard_share, queries_of
from hits.models import Item
from hits.packing.designs import Design
from hits.rounds.packed_rounds import figures_of
from mitl.models import Direction
from tests.evaluation.worlds import SMALL, known_pool
from tests.hits.pools import mirror_of, pack, pool_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def pool(lasting):
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
    for seed in range(100):
        images, captions = (audited_queries(pool, design, seed)[direction] for direction in Direction)
        asked.append(image in images or caption in captions)
    assert sum(asked) / 100 == pytest.approx(0.75, abs=0.1)


def test_the_round_keeps_its_design_and_prints_it(pool):
    made = pack("audit", pool, design=SMALL, judge="audit", audit_share=0.25)
    assert made.summary["judge"] == {"judge": "audit", "share": 0.25, "greedy": False, "policy": 1}
    figures = figures_of(made)
    assert (figures["judge"], figures["audit_share"]) == ("audit", 0.25)
    assert figures["unasked_pairs"] == len(pooled_pairs(pool)) - figures["pairs"]
    assert "judge" not in pack("all", pool, design=SMALL).summary


def test_the_same_audit_is_packed_in_every_database():
    pool = pool_of(name="another")
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
    for other in ({"judge": "audit", "audit_share": 0.5}, {"judge": "audit+greedy", "stop_recall": 0.9}):
        with pytest.raises(CounterpartError, match="audit already exists"):
            pack("audit", pool, design=SMALL, **other)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"judge": "first-hits", "audit_share": 0.5}, "--audit-share"),
        ({"judge": "audit", "task": "checkbox"}, "--judge audit"),
        ({"judge": "some"}, "judge"),
        ({"judge": "audit", "audit_share": 1.5}, "Invalid audit share 1.5"),
        ({"judge": "audit", "stop_recall": 0.9}, "--stop-recall"),
        ({"stop_width": 0.04}, "--stop-width"),
        ({"judge": "audit+greedy", "stop_recall": 1.2}, "Invalid stop recall 1.2"),
        ({"judge": "audit+greedy", "stop_width": 0}, "Invalid stop width 0"),
        ({"judge": "audit", "top_up": 1}, "Invalid top-up 1"),
    ],
)
def test_designs_that_cannot_be_are_refused(pool, parameters, message):
    with pytest.raises(CounterpartError, match=message):
        pack("refused", pool, **parameters)


def test_an_audit_too_small_for_a_hit_is_refused_and_nothing_is_written(pool):
    with pytest.raises(CounterpartError, match="fewer than the 40"):
        pack("small", pool, design=Design("large", 40, 1, 1), judge="audit", audit_share=0.05)
    assert not pool.rounds.exists()


GREEDY = {"design": SMALL, "judge": "audit+greedy", "seed": 4}


@pytest.mark.parametrize(
    ("queries", "share"),
    [
        ([2000, 1500], 0.1),  # a tenth of 1,500 are 150
        ([2000, 1499], 0.101),
        ([400, 2000], 0.375),
        ([400, 0], 0.375),  # one direction alone has queries
        ([300, 300], 0.5),
        ([60, 60], 0.5),  # at most a half
        ([], 0.1),
    ],
)
def test_the_guard_of_a_greedy_order_has_150_queries_of_each_direction_or_half_of_them(queries, share):
    assert guard_share(queries) == share
    for count in queries:
        assert JudgeDesign("audit", share).n_audited(count) >= min(150, count / 2)


def test_a_greedy_round_of_few_queries_audits_half_of_them_and_says_how_few_guard_it(pool):
    assert list(queries_of(pool)) == [14, 14]
    made = pack("greedy", pool, **GREEDY)
    figures = figures_of(made)
    assert (figures["audit_share"], figures["guard"]) == (0.5, "7 queries, fewer than the 150 advised")
    smaller = figures_of(pack("smaller", pool, **GREEDY, audit_share=0.3))
    assert (smaller["audit_share"], smaller["guard"]) == (0.3, "5 queries, fewer than the 150 advised")
    assert "guard" not in figures_of(pack("whole", pool, **GREEDY, audit_share=1))
    assert "guard" not in figures_of(pack("audit", pool, design=SMALL, judge="audit"))


@pytest.mark.parametrize(
    ("share", "queries", "note"),
    [
        (0.2, [750, 900], ""),
        (0.2, [745, 900], "149 queries, fewer than the 150 advised"),
        (0.01, [0, 60], "1 query, fewer than the 150 advised"),
    ],
)
def test_a_guard_is_small_by_its_direction_of_fewest_queries(share, queries, note):
    assert JudgeDesign("audit", share, greedy=True).guard_note(queries) == note


def test_a_greedy_round_keeps_when_it_stops_and_prints_it(pool):
    made = pack("greedy", pool, **GREEDY, audit_share=0.3, stop_recall=0.9, stop_width=0.04)
    assert made.summary["judge"] == {
        "judge": "audit",
        "share": 0.3,
        "greedy": True,
        "policy": 1,
        "stop_recall": 0.9,
        "stop_width": 0.04,
    }
    assert {"0.9", "0.04"} <= set(figures_of(made)["stops_at"].split())
    assert figures_of(pack("usual", pool, **GREEDY))["stops_at"].startswith("0.95 ")


def test_a_design_that_was_stored_before_rounds_could_choose_when_to_stop_is_read_with_the_usual_recall():
    stored = {"judge": "audit", "share": 0.2, "greedy": True, "policy": 1}
    assert JudgeDesign.from_json(stored) == JudgeDesign("audit", 0.2, greedy=True, stop_recall=0.95, stop_width=None)
