"""A pool becomes a round: every pair is asked, every HIT has controls, bad input writes nothing."""

from collections import Counter, defaultdict
from decimal import Decimal

import pytest

from core.errors import CounterpartError
from core.models import Event
from core.progress import silent
from core.work.jobs import Cancelled
from corpus.models import Caption, Image, Match
from hits.models import HIT, Control, Item, Round, Seat
from hits.packing.designs import Design
from hits.question import WORDINGS
from hits.rounds.packed_rounds import make_plan
from hits.task_types.levels import LEVELS
from tests.hits.gold import listed
from tests.hits.pools import SMALL, mirror_of, pack, pool_of


@pytest.fixture(scope="module")
def pool(lasting):
    return pool_of(40)


def items_by_hit(packed):
    hits = defaultdict(list)
    for item in Item.objects.filter(hit__round=packed).select_related("hit", "control"):
        hits[item.hit.number].append(item)
    return hits


def repeats(items, side):
    return sum(count - 1 for count in Counter(getattr(item, side) for item in items).values())


def written():
    return [model.objects.count() for model in (Round, HIT, Item, Control, Seat, Event)]


def test_a_pair_that_several_annotators_named_is_one_pair(db):
    pool = pool_of(8, name="small")
    for proposal in list(pool.proposals.all()):
        proposal.pk, proposal.direction = None, "t2i"
        proposal.save()
    assert pack("r", pool, design=SMALL).summary["pairs"] == 8


def test_every_pair_is_asked_once_in_full_hits_that_share_no_image_or_caption(db, pool):
    packed = pack("r", pool, design=SMALL)
    asked = Item.objects.filter(hit__round=packed, control=None).values_list("image", "caption")
    assert sorted(asked) == sorted(pool.proposals.values_list("image", "caption"))
    hits = items_by_hit(packed)
    assert sorted(hits) == list(range(1, 11))
    for items in hits.values():
        assert [item.place for item in items] == list(range(1, 7))
        kinds = Counter(item.control.polarity if item.control else "candidate" for item in items)
        assert kinds == {"candidate": 4, "positive": 1, "negative": 1}
        assert repeats(items, "image_id") == repeats(items, "caption_id") == 0
    assert (packed.summary["shared_images"], packed.summary["shared_captions"]) == (0, 0)


def test_the_last_hit_is_topped_up_with_further_controls(db):
    packed = pack("r", pool_of(37, name="uneven"), design=SMALL)
    *_, last = items_by_hit(packed).values()
    kinds = Counter(item.control.polarity if item.control else "candidate" for item in last)
    assert kinds == {"candidate": 1, "positive": 3, "negative": 2}
    assert packed.summary["topped_up"] == 3


def test_controls_are_at_every_place(db):
    packed = pack("r", pool_of(120, images=40, name="large"), design=SMALL)
    places = set(Item.objects.filter(hit__round=packed, control__polarity="positive").values_list("place", flat=True))
    assert places == set(range(1, 7))


def test_positives_are_original_and_negatives_are_in_no_list(db, pool):
    packed = pack("r", pool, design=SMALL)
    originals = set(Match.objects.filter(source="original").values_list("image", "caption"))
    gold = {
        kind: set(packed.controls.filter(polarity=kind).values_list("image", "caption"))
        for kind in ("positive", "negative")
    }
    assert gold["positive"] <= originals
    pooled = set(pool.proposals.values_list("image", "caption"))
    assert not gold["negative"] & (originals | pooled | listed(pool))


def test_every_hit_has_a_seat_for_each_wanted_answer_set(db, pool):
    packed = pack("r", pool, design=SMALL, replication=3)
    assert Counter(Seat.objects.values_list("number", flat=True)) == {1: 10, 2: 10, 3: 10}
    assert set(Seat.objects.values_list("state", flat=True)) == {Seat.State.OPEN}
    assert packed.summary["seats"] == 30


def test_without_a_seed_workers_cannot_compute_which_pairs_are_controls(db, pool):
    packed = [pack(f"r{number}", pool, design=SMALL, seed=None) for number in (1, 2)]
    assert packed[0].plan_hash != packed[1].plan_hash
    assert (
        make_plan(pool, task=LEVELS, design=SMALL, seed=packed[0].seed, sharing="avoid", progress=silent).hash
        == packed[0].plan_hash
    )


def test_the_plan_does_not_depend_on_database_ids(db, pool):
    there, here = (
        make_plan(one, task=LEVELS, design=SMALL, seed=0, sharing="avoid", progress=silent)
        for one in (pool, mirror_of(pool))
    )
    assert there.items.images.tobytes() == here.items.images.tobytes()
    assert there.hash == here.hash


def test_the_hash_is_of_this_very_plan(db, pool):
    """Pinned: whoever changes what is packed, or the text that is hashed, changes released rounds' identity."""
    assert pack("r", pool, design=SMALL).plan_hash == "34dad3292ddf78816c7cc0adbb7f9999f4430239843ca63635f46e5077078447"


def test_the_summary_says_what_the_round_holds_and_costs(db):
    packed = pack("r", pool_of(37, name="uneven"), design=SMALL, replication=2)
    assert packed.summary == {
        "pairs": 37,
        "hits": 10,
        "items": 60,
        "positives": 12,
        "negatives": 11,
        "topped_up": 3,
        "shared_images": 0,
        "shared_captions": 0,
        "seats": 20,
        "sharing": "avoid",
        "cost": {
            "browser": {"reward": "2.50", "fee": "0.00", "total": "50.00"},
            "mturk": {"reward": "2.50", "fee": "0.50", "total": "60.00"},
            "prolific": {"reward": "2.50", "fee": "1.28", "total": "75.60"},
        },
        "plan_hash": packed.plan_hash,
        "newest": {
            **{"images": Image.objects.latest("pk").pk, "captions": Caption.objects.latest("pk").pk},
            "matches": Match.objects.latest("pk").pk,
        },
    }


def test_a_packed_round_is_a_draft_and_the_journal_says_who_packed_it(db, pool):
    packed = pack("r", pool, design=SMALL, reasons=True, ceiling=Decimal("25.00"), actor="bo")  # just its cost
    assert (packed.state, packed.reasons, packed.design["candidates"]) == ("draft", True, 4)
    event = Event.objects.get(verb="packed")
    assert (event.actor, event.data) == ("bo", {"hits": 10, "plan_hash": packed.plan_hash})


@pytest.mark.parametrize("seed", [0, None])
def test_packing_the_same_again_returns_the_existing_round(db, pool, seed):
    packed = pack("r", pool, design=SMALL, seed=seed)
    before = written()
    assert pack("r", pool, design=SMALL, seed=seed) == packed
    assert written() == before


def test_a_round_of_an_earlier_wording_keeps_it_when_it_is_packed_again(db, pool):
    assert pack("r", pool, design=SMALL).wording == max(WORDINGS)
    Round.objects.update(wording=1)
    assert pack("r", pool, design=SMALL).wording == 1


def test_a_name_is_of_one_round(db, pool):
    pack("r", pool, design=SMALL)
    for terms, differs in (
        ({"seed": 1}, "seed, plan hash"),
        ({"reward": Decimal("1")}, "reward"),
        ({"reasons": True}, "reasons"),
    ):
        with pytest.raises(CounterpartError, match=f"Round r .* {differs}"):
            pack("r", pool, design=SMALL, **terms)


def test_losing_the_race_for_a_name_returns_the_winners_round(db, pool, monkeypatch):
    winner = pack("r", pool, design=SMALL)
    looked_up = iter([None, winner, winner])
    monkeypatch.setattr("hits.rounds.packed_rounds._find", lambda name: next(looked_up))
    assert pack("r", pool, design=SMALL) == winner


def test_impossible_terms_write_nothing(db, pool):
    few = pool_of(15, name="few")
    before = written()
    with pytest.raises(CounterpartError, match=r"\$25.00, above .* \$24.99"):
        pack("r", pool, design=SMALL, ceiling=Decimal("24.99"))
    with pytest.raises(CounterpartError, match="15 pairs, fewer than the 16"):
        pack("r", few)
    with pytest.raises(CounterpartError, match="Invalid name 'round one'"):
        pack("round one", pool, design=SMALL)
    assert written() == before


def test_queries_without_original_pairs_give_no_positive_control(db, pool):
    Match.objects.all().delete()
    with pytest.raises(CounterpartError, match="no original pair"):
        pack("r", pool, design=SMALL)


def test_a_round_without_negatives_needs_none(db, pool):
    pool.retrievals.clear()
    packed = pack("r", pool, design=Design("trusting", 4, 1, 0))
    assert (packed.summary["positives"], packed.summary["negatives"]) == (10, 0)


def test_a_round_that_is_stopped_while_it_is_packed_leaves_nothing(db, pool):
    before = written()
    for last in ("filling HITs", "writing HITs", "writing controls", "writing items", "writing seats"):

        def stop(step, done, total, last=last):
            if step == last:
                raise Cancelled

        with pytest.raises(Cancelled):
            pack("r", pool, design=SMALL, progress=stop)
        assert written() == before


def test_packing_asks_the_database_no_more_for_more_pairs(db, django_assert_max_num_queries):
    for pairs, images in ((40, 30), (400, 60)):
        pool = pool_of(pairs, images=images, name=f"p{pairs}")
        with django_assert_max_num_queries(43):
            pack(f"r{pairs}", pool, design=SMALL)
