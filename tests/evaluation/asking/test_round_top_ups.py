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
from evaluation.scores.runs import register_file
from hits.judge_designs import JudgeDesign, audited_queries
from hits.models import Item, Round
from mitl.models import Direction
from tests.commands import output_of
from tests.dataset.releasing import release_version
from tests.evaluation.worlds import SMALL, judge, judge_all, known_pool, level_of, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db

AUDIT = {"design": SMALL, "judge": "audit", "audit_share": 0.5, "seed": 4}
NEW = EstimateParameters(metric=("R@1", "mAP@R"))


@pytest.fixture
def pool():
    return known_pool()


def register(pool, folder, model="new", *, shift=0) -> Run:
    """Register rankings in which every query finds its matches first, then the others from a place on."""
    images, captions = list(pool.collection.images.all()), list(pool.collection.captions.all())

    def ranked(query, items, level):
        moved = items[shift:] + items[:shift]
        return [item.key for item in sorted(moved, key=lambda item: level(query, item))]

    lists = {
        "i2t": {one.key: ranked(one, captions, level_of) for one in images},
        "t2i": {one.key: ranked(one, images, lambda caption, image: level_of(image, caption)) for one in captions},
    }
    path = folder / f"{model}.json"
    path.write_text(json.dumps(lists))
    return register_file(pool.collection, path, model=model)


def asked_pairs(made):
    return set(Item.objects.filter(hit__round=made, control=None).values_list("image", "caption"))


def lists_of(folder, model="new"):
    return json.loads((folder / f"{model}.json").read_text())


def expected_pairs(pool, folder, made):
    """The pairs that lack, by hand: the first two places of the file, of drawn queries, that the round does not ask."""
    images = dict(pool.collection.images.values_list("key", "pk"))
    captions = dict(pool.collection.captions.values_list("key", "pk"))
    lists = lists_of(folder)
    pairs = {(images[query], captions[item]) for query, items in lists["i2t"].items() for item in items[:2]}
    pairs |= {(images[item], captions[query]) for query, items in lists["t2i"].items() for item in items[:2]}
    drawn = audited_queries(pool, JudgeDesign("audit", 0.5), made.seed)
    asked = [set(drawn[direction].values()) for direction in Direction]
    return {pair for pair in pairs if pair[0] in asked[0] or pair[1] in asked[1]} - asked_pairs(made)


def test_a_model_that_came_later_costs_the_first_items_of_audited_queries_alone(pool, tmp_path):
    audit = judge_all(published(pack("audit", pool, **AUDIT, reward="0.50", replication=1)))
    register(pool, tmp_path)
    planned = AskModels().plan(audit)
    lacking = expected_pairs(pool, tmp_path, audit)
    assert (planned.figures, planned.pairs) == ({"models": "new"}, len(lacking))
    assert planned.plan.n_hits == -(-len(lacking) // SMALL.candidates)
    assert float(planned.cost) == 0.50 * planned.plan.n_hits
    assert audit.top_ups.count() == 0  # the cost is told first
    before = asked_pairs(audit)
    add_planned(planned, actor="robin")
    assert asked_pairs(audit) - before == lacking
    assert Event.objects.get(verb="topped up").data["models"] == ["new"]
    added = audit.hits.filter(top_up__isnull=False)
    assert {hit.seats.count() for hit in added} == {1}


def test_each_pair_of_a_top_up_gets_as_many_votes_as_the_rounds_own(pool, tmp_path):
    audit = published(pack("audit", pool, **AUDIT, replication=3))
    register(pool, tmp_path)
    planned = AskModels().plan(audit)
    assert float(planned.cost) == pytest.approx(3 * 0.65 * planned.plan.n_hits)
    add_planned(planned, actor="robin")
    assert {hit.seats.count() for hit in audit.hits.filter(top_up__isnull=False)} == {3}


def test_after_its_top_up_a_model_is_scored_by_its_own_items_over_the_wide_pool(pool, tmp_path):
    audit = judge_all(published(pack("audit", pool, **AUDIT)))
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


def test_planning_again_finds_nothing_to_add_and_a_second_model_costs_its_own_pairs(pool, tmp_path):
    audit = published(pack("audit", pool, **AUDIT))
    register(pool, tmp_path)
    add_planned(AskModels().plan(audit), actor="robin")
    with pytest.raises(CounterpartError, match="asks all pairs of new: nothing to add"):
        AskModels().plan(audit)
    register(pool, tmp_path, "newer", shift=5)
    planned = AskModels().plan(audit)
    assert planned.figures == {"models": "newer"}
    before = asked_pairs(audit)
    add_planned(planned, actor="robin")
    assert len(asked_pairs(audit)) == len(before) + planned.pairs


def test_two_people_who_add_the_same_top_up_add_it_once(pool, tmp_path):
    audit = published(pack("audit", pool, **AUDIT))
    register(pool, tmp_path)
    first, second = AskModels().plan(audit), AskModels().plan(audit)
    add_planned(first, actor="robin")
    with pytest.raises(CounterpartError, match="has changed since this top-up was planned"):
        add_planned(second, actor="ali")
    assert audit.top_ups.count() == 1


def test_a_top_up_beyond_the_ceiling_changes_nothing(pool, tmp_path):
    audit = published(pack("audit", pool, **AUDIT))
    register(pool, tmp_path)
    planned = AskModels().plan(audit)
    Round.objects.update(ceiling=audit.seat_cost * audit.hits.count())
    with pytest.raises(CounterpartError, match=r"left below its ceiling of .* Raise it with set_ceiling"):
        add_planned(planned, actor="robin")
    assert not audit.top_ups.exists()


def test_an_audit_is_continued_in_its_order_for_the_queries_that_it_lacks(pool):
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


def test_a_continued_audit_asks_the_models_that_it_was_topped_up_for_of_further_queries_too(pool, tmp_path):
    audit = published(pack("audit", pool, **AUDIT))
    register(pool, tmp_path)
    add_planned(AskModels().plan(audit), actor="robin")
    add_planned(ContinueAudit(audit_share=0.75).plan(audit), actor="robin")
    judge_all(audit)
    assert all(one.own_asked for one in scores(audit).values())
    assert scores(audit)["new"].estimate.n_audited == 11
    version = release_version("v1", collection=pool.collection, sample=pool.sample, rounds=[audit])
    (described,) = version.manifest["rounds"]
    assert described["judge"]["share"] == 0.75
    assert check_packing(audit, described).problems == []


def test_only_an_audit_can_be_continued_and_only_to_more(pool):
    audit = published(pack("audit", pool, **AUDIT))
    for share in (0.5, 0.2):
        with pytest.raises(CounterpartError, match="judges 50% of the queries. Continue it to more, up to 1"):
            ContinueAudit(audit_share=share).plan(audit)
    with pytest.raises(CounterpartError, match="Invalid audit share 1.1"):
        ContinueAudit(audit_share=1.1)
    with pytest.raises(CounterpartError, match="Choose one of models, audit_share. Top up one after the other"):
        chosen_act({"audit_share": 0.6, "models": ("new",)})
    everything = published(pack("all", pool, design=SMALL))
    with pytest.raises(CounterpartError, match="Round all asks all pairs: only an audit can be continued"):
        ContinueAudit(audit_share=0.5).plan(everything)


def test_unknown_models_and_closed_rounds_are_refused(pool, tmp_path):
    audit = published(pack("audit", pool, **AUDIT))
    with pytest.raises(CounterpartError, match="No model is registered for the pool of round audit. Register rankings"):
        AskModels().plan(audit)
    register(pool, tmp_path)
    with pytest.raises(CounterpartError, match="1 model is not registered for the pool: other; there are new"):
        AskModels(models=("new", "other")).plan(audit)
    with pytest.raises(CounterpartError, match="1 model is not registered for the pool: a"):
        AskModels(models=("a",)).plan(audit)
    Round.objects.update(closed_at=audit.published_at)
    audit.refresh_from_db()
    with pytest.raises(CounterpartError, match="Round audit is closed"):
        AskModels().plan(audit)


def test_a_release_names_the_models_and_packs_their_hits_again(pool, tmp_path):
    audit = published(pack("audit", pool, **AUDIT))
    run = register(pool, tmp_path)
    add_planned(AskModels().plan(audit), actor="robin")
    judge_all(audit)
    version = release_version("v1", collection=pool.collection, sample=pool.sample, rounds=[audit])
    (described,) = version.manifest["rounds"]
    assert described["topped_up_for"] == [{"new": run.sha256}]
    assert check_packing(audit, described).problems == []


def test_rankings_that_are_gone_are_named(pool, tmp_path):
    audit = published(pack("audit", pool, **AUDIT))
    run = register(pool, tmp_path)
    add_planned(AskModels().plan(audit), actor="robin")
    judge_all(audit)
    Run.objects.filter(pk=run.pk).delete()
    with pytest.raises(CounterpartError, match="The rankings of new, for which round audit was topped up, are gone"):
        estimate_round(audit, NEW)


run_command = partial(output_of, "plan_top_up")


def test_the_command_tells_the_cost_and_adds_only_when_told(pool, tmp_path):
    audit = published(pack("audit", pool, **AUDIT))
    register(pool, tmp_path, "elsewhere")
    Run.objects.all().delete()
    first = json.loads(run_command("audit", "--rankings", str(tmp_path / "elsewhere.json"), "--json"))
    assert (first["models"], "added" in first) == ("elsewhere", False)
    assert first["would_add"] == first["hits"] > 0
    assert not audit.top_ups.exists()
    second = json.loads(run_command("audit", "--add", "--json"))
    assert (second["added"], second["cost"]) == (first["hits"], first["cost"])
    assert audit.top_ups.count() == 1
    with pytest.raises(CommandError, match="nothing to add"):
        run_command("audit", "--add")
    longer = json.loads(run_command("audit", "--audit-share", "0.6", "--json"))
    assert (longer["audit_share"], longer["would_add"] > 0) == (0.6, True)


def test_the_pairs_of_a_top_up_stand_among_the_pairs_of_the_round(pool, tmp_path, researcher):
    audit = published(pack("audit", pool, **AUDIT))
    register(pool, tmp_path)
    n_pairs = len(asked_pairs(audit))
    add_planned(AskModels().plan(audit), actor="robin")
    judge(audit.hits.order_by("-number").first())
    page = researcher.get("/rounds/audit/").text
    assert "for the first items of new" in page
    rows = b"".join(researcher.get("/rounds/audit/pairs.csv")).decode().splitlines()
    assert len(rows) - 1 == len(asked_pairs(audit)) > n_pairs
