"""The estimate of a plan: pairs counted by hand, time by the pace of the latest search."""

from decimal import Decimal

import pytest

from core.errors import CounterpartError
from hits.rounds.plan_estimates import estimate_plan, estimate_round
from hits.rounds.round_parameters import PackParameters, RoundParameters
from mitl.models import Retrieval
from tests.evaluation.worlds import SMALL, known_pool
from tests.factories import make_annotator, make_collection, make_retrieval, make_sample
from tests.hits.pools import pack, pool_of_boxes

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoo():
    return make_collection(images=10, captions_each=3)


@pytest.fixture
def two(zoo):
    """Two annotators, a and b."""
    make_annotator("a", "overlap"), make_annotator("b", "overlap")


def plan(**more) -> RoundParameters:
    order = {"round": "zebra", "collection": "zoo", "annotators": "vilt", "images": 4, "captions": 6, "top_k": 2}
    return RoundParameters(**(order | {"control_depth": 10} | more))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"control_depth": 11}, "10 images and 30 captions"),
        ({"top_k": 11}, "top-k 11: it is greater than the control depth 10"),
        ({"annotators": "emb"}, "not trained yet: emb"),
    ],
)
def test_what_no_search_can_do_is_refused_before_anything_is_searched(zoo, change, message):
    make_annotator("vilt", "vilt", checkpoint="weights.npz")
    make_annotator("emb", "embedding")
    with pytest.raises(CounterpartError, match=message):
        estimate_plan(plan(**change))


@pytest.mark.parametrize(
    ("change", "pairs"),
    [
        ({"annotators": "vilt,words"}, 4 * 30 + 6 * 10),
        ({"cascade": "words", "cascade_depth": 20}, 4 * 20 + 6 * 10),  # there are only 10 images
    ],
)
def test_a_cross_encoder_scores_every_query_with_the_whole_gallery_or_the_lists_of_a_cascade(zoo, change, pairs):
    make_annotator("vilt", "vilt", checkpoint="weights.npz")
    make_annotator("words", "overlap")
    (scoring,) = estimate_plan(plan(**change)).scorings
    assert (scoring.annotator, scoring.pairs, scoring.seconds) == ("vilt", pairs, None)


def test_the_time_is_by_the_pace_of_the_latest_search(zoo):
    sample = make_sample(zoo)  # 10 images and 30 captions: 600 pairs
    make_retrieval(make_annotator("vilt", "vilt", checkpoint="weights.npz"), sample)
    Retrieval.objects.update(seconds=300)
    assert estimate_plan(plan()).scorings[0].seconds == 90
    assert estimate_plan(plan(queries="queries")).scorings[0].seconds == 300


def test_hits_and_rewards_are_bounded_by_what_is_pooled(two):
    found = estimate_plan(plan(annotators="a,b", replication=2))
    assert (found.pairs, found.hits, found.cost) == (40, 3, Decimal("15.00"))  # 14 candidates in a HIT
    assert estimate_plan(plan(annotators="a,b", direction="i2t")).pairs == 16


def test_a_part_of_the_pairs_costs_a_part_of_the_money(two):
    audit = estimate_plan(plan(annotators="a,b", judge="audit", audit_share=0.5))
    assert (audit.judge, audit.pairs) == ("audit", 20)  # 2 of 4 images and 3 of 6 captions, 4 places each
    first = estimate_plan(plan(annotators="a,b", judge="first-hits"))
    assert (first.judge, first.pairs) == ("first-hits", 20)  # one place of each annotator


@pytest.mark.parametrize("judge", [{"judge": "audit", "audit_share": 0.5}, {"judge": "first-hits"}])
def test_a_part_of_a_pool_is_counted_as_packing_asks_it(db, judge):
    pool = known_pool()
    found = estimate_round(pool, PackParameters(seed=3, design=SMALL, **judge))
    packed = pack("r", pool, seed=3, design=SMALL, **judge)
    assert (found.pairs, found.hits) == (packed.summary["pairs"], packed.summary["hits"])
    assert found.pairs < pool.n_pairs


@pytest.mark.parametrize(
    ("options", "hits"),
    [
        # 2 annotators x 2 places of 4 query images: 4 screens; and of 6 query captions, whose lists name all 10 images
        # and 14 pairs more, so 11 screens.
        ({"task": "checkbox"}, 3),
        ({"task": "checkbox", "direction": "i2t"}, 1),
        # 20 captions a HIT: at most 16 by images, and the 6 of the queries.
        ({"task": "determinate"}, 2),
        ({"task": "determinate", "direction": "t2i"}, 1),
        ({"task": "preference", "positives": "v1"}, 10),
        ({"task": "expert"}, 3),
    ],
)
def test_the_hits_of_a_plan_are_counted_as_its_type_of_task_makes_them(two, options, hits):
    assert estimate_plan(plan(annotators="a,b", **options)).hits == hits


@pytest.mark.parametrize(("asked", "each"), [(6, 9), (6, 11)])
def test_check_boxes_of_a_pool_are_counted_with_what_fills_them_up(db, asked, each):
    pool = pool_of_boxes(asked=asked, each=each)
    assert (
        estimate_round(pool, PackParameters(task="checkbox")).hits == pack("r", pool, task="checkbox").summary["hits"]
    )
