"""Plans of audits: from priors on an unjudged pool, and predictions compared with the real figures."""

import json
from functools import partial

import pytest
from django.core.management import CommandError

from annotation.models import Assignment
from core.models import Event
from counterpart_statistics.auditing.plan_basis import PairCounts, PlanBasis, Prior
from evaluation.designing.audit_options import AuditOptions, terms_of
from evaluation.designing.compared_designs import ComparedDesigns
from evaluation.designing.round_bases import basis_of, planned_round
from hits.models import Round
from mitl.pooling import pool_proposals
from tests.commands import output_of
from tests.evaluation.worlds import AUDIT, SMALL, judge_all, known_pool, level_of, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoo_of_images(pool):
    """A pool of the same lists, of image queries alone."""
    annotators = [one.annotator for one in pool.retrievals.all()]
    return pool_proposals(
        "images",
        collection=pool.collection,
        annotators=annotators,
        sample=pool.sample,
        top_k=2,
        direction="i2t",
        control_depth=6,
    )


plans = partial(output_of, "plan")


def test_a_pool_without_judgments_is_planned_from_priors_and_says_so(pool):
    text = plans("pool")
    assert text.startswith("The plan rests on priors, not judgments: 20%")
    plan = json.loads(plans("pool", "--json", "--match-rate", "0.3"))
    assert (plan["pilot"], plan["pool"]) == (None, "pool")
    assert plan["prior"] == {"match_rate": 0.3, "rank_effect": 0.5}
    whole, *audits = plan["designs"]
    assert (whole["design"], len(audits)) == ("all", 8)
    assert (whole["question"], set(whole["widths"].values())) == ("these", {0.0})  # counted
    assert all(width > 0 for one in audits for width in one["widths"].values())
    like = json.loads(plans("pool", "--json", "--match-rate", "0.3", "--queries", "like"))["designs"][0]
    assert (like["question"], min(like["widths"].values()) > 0) == ("like", True)
    assert plans("pool", "--json", "--match-rate", "0.3") == json.dumps(plan) + "\n"  # a fixed seed


def test_a_draft_round_is_planned_from_priors_with_its_own_pay(pool):
    pack("draft", pool, design=SMALL, reward="2.00")
    plan = json.loads(plans("draft", "--json"))
    assert plan["pilot"] is None
    whole = plan["designs"][0]
    assert whole["hits"] == Round.objects.get().summary["hits"]
    assert float(whole["cost"]) == 2 * whole["hits"]
    assert float(plan["wage"]) == 2 / (plan["minutes"] / 60)
    assert float(json.loads(plans("draft", "--json", "--reward", "1"))["designs"][0]["cost"]) == whole["hits"]


def test_the_time_of_a_hit_is_what_people_needed_before_what_was_expected(pool):
    made = judge_all(published(pack("all", pool, design=SMALL, reward="2.00")))
    assert terms_of(made).source == "as slow workers usually take"
    made.expected_seconds = 240
    assert (terms_of(made).seconds, str(terms_of(made).wage)) == (240, "30.00")
    Assignment.objects.update(active_seconds=300)
    terms = terms_of(made)
    assert (terms.seconds, terms.source) == (300, "as measured in round all")
    assert str(terms.wage) == "24.00"


def test_a_pilot_of_many_matches_has_a_curve():
    known_pool(images=70)
    many = json.loads(plans("pool", "--json", "--match-rate", "0.9"))["directions"]["i2t"]
    assert (many["yes"] >= 200, many["no_curve"]) == (True, "")
    shares, found = zip(*many["curve"], strict=True)
    assert (shares[-1], list(found)) == (1.0, sorted(found))
    assert ": 50% of them from" in plans("pool", "--match-rate", "0.9")


def test_a_basis_is_read_as_it_was_written(pool):
    made = judge_all(published(pack("audit", pool, **AUDIT)))
    for basis in (basis_of(made, Prior(0.2, 0.5)), basis_of(planned_round("pool"), Prior(0.2, 0.5))):
        read = PlanBasis.from_json(basis.as_json())
        assert read.as_json() == basis.as_json()
        designs = [ComparedDesigns(made, one, AuditOptions()).designs for one in (read, basis)]
        assert designs[0] == designs[1]


def test_a_match_of_an_image_query_and_a_caption_query_counts_once(pool):
    """By hand: of ten image matches and six caption matches four are of both; of half the queries on either side, a
    pair of both is asked with a chance of 1 - 0.5 * 0.5. The slow reference counts the pool's pairs that match."""
    sides = PairCounts(12, 4)
    assert [sides.asked(1, 1), sides.asked(0.5, 1), sides.asked(1, 2)] == [12, 5 + 3 - 4 * 0.25, 10 + 6 - 4 * 0.5]
    made = judge_all(published(pack("all", pool, design=SMALL)))
    pairs = [(one.image, one.caption) for one in pool.proposals.select_related("image", "caption")]
    known = set(pool.collection.matches.filter(source="original").values_list("image", "caption"))
    true = {(image, caption) for image, caption in pairs if level_of(image, caption) < 3}
    asked = [pair for pair in true if (pair[0].pk, pair[1].pk) not in known]
    basis = basis_of(made, Prior(0.2, 0.5))
    assert (basis.measured.matches, basis.matches.asked(1, 1)) == (len(asked), pytest.approx(len(asked)))
    plan = json.loads(plans("all", "--json"))
    assert plan["matches"] == plan["matches_low"] == plan["designs"][0]["matches"] == len(asked)
    assert basis.matches.of_both > 0
    assert plan["designs"][0]["match_cost"] == pytest.approx(float(plan["designs"][0]["cost"]) / len(asked), abs=1e-4)
    assert f"{len(asked)} matches among {basis.pairs.distinct} pairs, counted" in plans("all")


def test_a_pool_of_one_direction_counts_its_matches_alone(zoo_of_images):
    basis = basis_of(planned_round("images"), Prior(0.2, 0.5))
    assert basis.matches == PairCounts(basis.interval.matches, 0)


def test_the_first_hits_of_the_annotators_are_counted(pool):
    first = json.loads(plans("pool", "--json"))["first_hits"]
    packed = pack("first", pool, design=SMALL, judge="first-hits")
    hits = -(-first["pairs"] // SMALL.candidates)
    assert (first["pairs"], hits) == (packed.summary["pairs"], packed.summary["hits"])


def test_a_prediction_is_kept_and_is_compared_with_what_the_round_brought(pool):
    made = pack("audit", pool, **AUDIT)
    plans("pool", "--keep", "audit")
    predicted = Round.objects.get(name="audit").summary["predicted"]
    assert predicted["basis"].startswith("priors")
    assert predicted["share"] == 0.5
    assert Event.objects.filter(verb="predicted").count() == 1
    judge_all(published(Round.objects.get(name="audit")))
    rows = {one["figure"]: one for one in json.loads(plans("audit", "--json"))["beside_real"]}
    assert rows["HITs"]["real"] == made.summary["hits"]
    assert rows["HITs"]["predicted"] == pytest.approx(made.summary["hits"], abs=3)
    assert rows["matches"]["real"] > 0
    assert 0 < rows["width of mAP@R, image → captions"]["real"] <= 1


def test_a_prediction_is_kept_once_and_before_the_first_judgment(pool):
    pack("audit", pool, **AUDIT)
    plans("pool", "--keep", "audit")
    kept = Round.objects.get().summary
    with pytest.raises(CommandError, match="Round audit has a prediction"):
        plans("pool", "--keep", "audit", "--match-rate", "0.4")
    judge_all(published(pack("late", pool, **AUDIT | {"seed": 5})))
    with pytest.raises(CommandError, match="Round late is judged already"):
        plans("pool", "--keep", "late")
    pack("first", pool, design=SMALL, judge="first-hits")
    with pytest.raises(CommandError, match="gives R@1 exactly"):
        plans("pool", "--keep", "first")
    assert Round.objects.get(name="audit").summary == kept
    assert "predicted" not in Round.objects.get(name="late").summary
