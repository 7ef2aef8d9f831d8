"""Top-ups of a round for registered models: what their first items cost, and how the models are scored then."""

import json
from functools import partial

import numpy as np
import pytest
from django.core.management import CommandError

from core.errors import CounterpartError
from core.models import Event
from dataset.releases.packing_replay import check_packing
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import AskModels, ContinueAudit, chosen_act
from evaluation.auditing.round_estimates import EstimateParameters, estimate_round
from evaluation.models import Run
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Item, Round
from mitl.models import Direction
from tests.commands import output_of
from tests.dataset.releasing import release
from tests.evaluation.registering import register
from tests.evaluation.worlds import AUDIT, SMALL, judge, judge_all, known_pool, level_of, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db

NEW = EstimateParameters(metric=("R@1", "mAP@R"))


@pytest.fixture(scope="module")
def packed(lasting):
    return published(pack("audit", known_pool(), **AUDIT, reward="0.50", replication=1)).pk


@pytest.fixture
def audit(packed):
    return Round.objects.get(pk=packed)


@pytest.fixture
def pool(audit):
    return audit.pool


@pytest.fixture
def run(pool, tmp_path):
    return register(pool, tmp_path)


@pytest.fixture
def topped_up(audit, run):
    """The audit, topped up for the first items of a registered model."""
    add_planned(AskModels().plan(audit), actor="robin")
    return audit


def asked_pairs(made):
    return set(Item.objects.filter(hit__round=made, control=None).values_list("image", "caption"))


def lists_of(folder, model="new"):
    return json.loads((folder / f"{model}.json").read_text())


def expected_pairs(pool, folder, made):
    """The missing pairs, by hand: the first two places of the file, of drawn queries, that the round does not ask."""
    images = dict(pool.collection.images.values_list("key", "pk"))
    captions = dict(pool.collection.captions.values_list("key", "pk"))
    lists = lists_of(folder)
    pairs = {(images[query], captions[item]) for query, items in lists["i2t"].items() for item in items[:2]}
    pairs |= {(images[item], captions[query]) for query, items in lists["t2i"].items() for item in items[:2]}
    drawn = audited_queries(pool, JudgeDesign("audit", 0.5), made.seed)
    asked = [set(drawn[direction].values()) for direction in Direction]
    return {pair for pair in pairs if pair[0] in asked[0] or pair[1] in asked[1]} - asked_pairs(made)


def test_a_model_that_came_later_costs_the_first_items_of_audited_queries_alone(audit, pool, tmp_path):
    judge_all(audit)
    register(pool, tmp_path)
    planned = AskModels().plan(audit)
    missing = expected_pairs(pool, tmp_path, audit)
    assert (planned.figures, planned.pairs) == ({"models": "new"}, len(missing))
    assert planned.plan.n_hits == -(-len(missing) // SMALL.candidates)
    assert float(planned.cost) == 0.50 * planned.plan.n_hits
    assert audit.top_ups.count() == 0  # the cost is shown first
    before = asked_pairs(audit)
    add_planned(planned, actor="robin")
    assert asked_pairs(audit) - before == missing
    assert Event.objects.get(verb="topped up").data["models"] == ["new"]
    added = audit.hits.filter(top_up__isnull=False)
    assert {hit.seats.count() for hit in added} == {1}


def test_after_its_top_up_a_model_is_scored_by_its_own_items_over_the_wide_pool(audit, pool, tmp_path):
    judge_all(audit)
    register(pool, tmp_path)
    narrow = scores(audit)
    assert {name for name, one in narrow.items() if not one.own_asked} == {"new"}
    assert narrow["new"].estimate.estimand == "pool of audit"
    add_planned(AskModels().plan(audit), actor="robin")
    assert scores(audit) == narrow  # until the last HIT of the top-up is judged
    added = list(audit.hits.filter(top_up__isnull=False))
    for hit in added[:-1]:
        judge(hit)
    assert scores(audit) == narrow
    judge(added[-1])
    wide = scores(audit)
    assert all(one.own_asked and not one.missing for one in wide.values())
    assert wide["new"].estimate.estimand == "wide pool of audit"
    assert wide["new"].estimate.value > narrow["new"].estimate.value
    # Its first items are matches wherever a query has any, so that R@1 of the drawn queries is 1.
    drawn = audited_queries(pool, JudgeDesign("audit", 0.5), audit.seed)[Direction.IMAGE_TO_CAPTION]
    assert len(drawn) == 7
    assert wide["new"].estimate.high == 1
    assert wide["new"].estimate.value == pytest.approx(1, abs=1e-9)


def scores(made):
    found = estimate_round(made, EstimateParameters(metric=("R@1",))).models
    return {one.model: one for one in found if one.direction == Direction.IMAGE_TO_CAPTION}


def test_a_topped_up_round_of_all_pairs_counts_the_wide_pool(pool, tmp_path):
    made = published(pack("all", pool, design=SMALL))
    register(pool, tmp_path)
    add_planned(AskModels().plan(made), actor="robin")
    judge_all(made)
    found = scores(made)
    assert found["new"].counted
    assert found["new"].estimate.value == 1
    # By hand: over all queries, the share whose first item in a's list is a match or the original.
    first = pool.proposals.filter(annotator__name="a", rank=1, direction="i2t").select_related("image", "caption")
    hits = [level_of(one.image, one.caption) < 3 or one.caption.image_id == one.image_id for one in first]
    assert found["a"].estimate.value == pytest.approx(np.mean(hits))


def test_first_hits_are_topped_up_by_first_hits(pool, tmp_path):
    made = published(pack("first", pool, design=SMALL, judge="first-hits"))
    register(pool, tmp_path)
    add_planned(AskModels().plan(made), actor="robin")
    images = dict(pool.collection.images.values_list("pk", "key"))
    captions = dict(pool.collection.captions.values_list("pk", "key"))
    lists = lists_of(tmp_path)
    asked = {(images[image], captions[caption]) for image, caption in asked_pairs(made)}
    assert {(query, items[0]) for query, items in lists["i2t"].items()} <= asked
    assert {(items[0], query) for query, items in lists["t2i"].items()} <= asked
    second = {(query, items[1]) for query, items in lists["i2t"].items()}
    assert not second <= asked


def test_planning_again_finds_nothing_to_add_and_a_second_model_costs_its_own_pairs(topped_up, pool, tmp_path):
    with pytest.raises(CounterpartError, match="pairs of new: nothing to add"):
        AskModels().plan(topped_up)
    register(pool, tmp_path, "newer", shift=5)
    planned = AskModels().plan(topped_up)
    assert planned.figures == {"models": "newer"}
    before = asked_pairs(topped_up)
    add_planned(planned, actor="robin")
    assert len(asked_pairs(topped_up)) == len(before) + planned.pairs


def test_two_people_who_add_the_same_top_up_add_it_once(run, audit):
    first, second = AskModels().plan(audit), AskModels().plan(audit)
    add_planned(first, actor="robin")
    with pytest.raises(CounterpartError, match="Round audit has changed"):
        add_planned(second, actor="ali")
    assert audit.top_ups.count() == 1


def test_a_top_up_beyond_the_ceiling_changes_nothing(run, audit):
    planned = AskModels().plan(audit)
    Round.objects.update(ceiling=audit.seat_cost * audit.hits.count())
    with pytest.raises(CounterpartError, match="set_ceiling"):
        add_planned(planned, actor="robin")
    assert not audit.top_ups.exists()


def test_an_audit_is_continued_in_its_order_for_the_queries_that_follow(pool):
    """And is then estimated as the longer audit would have been from the start."""
    short = judge_all(published(pack("short", pool, **AUDIT)))
    add_planned(ContinueAudit(audit_share=0.75).plan(short), actor="robin")
    before = scores(short)
    assert before["a"].estimate.n_audited == 7  # until the further HITs are judged
    for hit in short.hits.filter(top_up__isnull=False):
        judge(hit)
    longer = judge_all(published(pack("longer", pool, **AUDIT | {"audit_share": 0.75})))
    assert asked_pairs(short) == asked_pairs(longer)
    after, expected = scores(short), scores(longer)
    for name in "abc":
        assert after[name].estimate.n_audited == 11
        assert after[name].estimate.value == pytest.approx(expected[name].estimate.value, abs=1e-12)
        assert after[name].estimate.low == pytest.approx(expected[name].estimate.low, abs=1e-12)


def test_a_continued_audit_asks_the_models_that_it_was_topped_up_for_of_further_queries_too(topped_up, pool):
    add_planned(ContinueAudit(audit_share=0.75).plan(topped_up), actor="robin")
    judge_all(topped_up)
    assert all(one.own_asked for one in scores(topped_up).values())
    assert scores(topped_up)["new"].estimate.n_audited == 11
    version = release(topped_up)
    (described,) = version.manifest["rounds"]
    assert described["judge"]["share"] == 0.75
    assert check_packing(topped_up, described).problems == []


def test_only_an_audit_can_be_continued_and_only_to_more(audit, pool):
    for share in (0.5, 0.2):
        with pytest.raises(CounterpartError, match="judges 50% of the queries"):
            ContinueAudit(audit_share=share).plan(audit)
    with pytest.raises(CounterpartError, match="Invalid audit share 1.1"):
        ContinueAudit(audit_share=1.1)
    with pytest.raises(CounterpartError, match="one of models, audit_share"):
        chosen_act({"audit_share": 0.6, "models": ("new",)})
    everything = published(pack("all", pool, design=SMALL))
    with pytest.raises(CounterpartError, match="Round all asks all pairs"):
        ContinueAudit(audit_share=0.5).plan(everything)


def test_unknown_models_and_closed_rounds_are_refused(audit, pool, tmp_path):
    with pytest.raises(CounterpartError, match="No model is registered"):
        AskModels().plan(audit)
    register(pool, tmp_path)
    with pytest.raises(CounterpartError, match="other; there are new"):
        AskModels(models=("new", "other")).plan(audit)
    with pytest.raises(CounterpartError, match="1 model .*: a;"):
        AskModels(models=("a",)).plan(audit)
    Round.objects.update(closed_at=audit.published_at)
    audit.refresh_from_db()
    with pytest.raises(CounterpartError, match="Round audit is closed"):
        AskModels().plan(audit)


def test_a_release_names_the_models_packs_their_hits_again_and_names_rankings_that_are_gone(run, topped_up, pool):
    judge_all(topped_up)
    version = release(topped_up)
    (described,) = version.manifest["rounds"]
    assert described["topped_up_for"] == [{"new": run.sha256}]
    assert check_packing(topped_up, described).problems == []
    Run.objects.filter(pk=run.pk).delete()
    with pytest.raises(CounterpartError, match="rankings of new, .* are gone"):
        estimate_round(topped_up, NEW)


run_command = partial(output_of, "add")


def test_the_command_gives_the_cost_and_adds_only_on_request(audit, pool, tmp_path):
    register(pool, tmp_path, "elsewhere")
    Run.objects.all().delete()
    first = json.loads(run_command("audit", "--rankings", str(tmp_path / "elsewhere.json"), "--json"))
    assert (first["models"], "added" in first) == ("elsewhere", False)
    assert first["would_add"] == first["hits"] > 0
    assert not audit.top_ups.exists()
    second = json.loads(run_command("audit", "--yes", "--json"))
    assert (second["added"], second["cost"]) == (first["hits"], first["cost"])
    assert audit.top_ups.count() == 1
    with pytest.raises(CommandError, match="nothing to add"):
        run_command("audit", "--yes")
    longer = json.loads(run_command("audit", "--audit-share", "0.6", "--json"))
    assert (longer["audit_share"], longer["would_add"] > 0) == (0.6, True)


def test_the_pairs_of_a_top_up_are_among_the_pairs_of_the_round(run, audit, researcher):
    n_pairs = len(asked_pairs(audit))
    add_planned(AskModels().plan(audit), actor="robin")
    judge(audit.hits.order_by("-number").first())
    page = researcher.get("/rounds/audit/").text
    assert "for the first items of new" in page
    rows = b"".join(researcher.get("/rounds/audit/pairs.csv")).decode().splitlines()
    assert len(rows) - 1 == len(asked_pairs(audit)) > n_pairs
