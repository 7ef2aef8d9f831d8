"""The page of a pool that packs it into HITs, the second half of planning a round."""

from decimal import Decimal
from math import ceil

import pytest

from core.errors import CounterpartError
from core.models import Job
from hits.models import Round
from mitl.models import Pool
from tests.console.rounds.orders import ORDER
from tests.factories import make_annotator, make_collection, make_round, make_sample

KEPT = ("task", "design", "replication", "top_up", "reward", "ceiling", "seed", "sharing", "judge")
SIZES = {name: ORDER[name] for name in KEPT}


@pytest.fixture
def make_pool(researcher, commit):
    def make(**more: str) -> Pool:
        make_collection(images=8), make_annotator()
        chosen = {"collection": "zoo", "annotators": ["overlap"], "images": "8", "captions": "16", "go": "pool"}
        with commit(execute=True):
            researcher.post("/plan/", ORDER | chosen | more)
        return Pool.objects.get()

    return make


@pytest.fixture
def pool(make_pool) -> Pool:
    """A pool that a job has made, without a round."""
    return make_pool()


def test_the_plan_of_the_pool_is_suggested_for_its_hits(researcher, make_pool):
    chosen = {"replication": "2", "top_up": "1", "reward": "2.50", "ceiling": "90.00", "reasons": "True"}
    make_pool(**chosen)
    form = researcher.get("/pools/zebra-pool/pack/").context["form"]
    assert {name: str(form[name].value()) for name in chosen} == chosen


def test_planning_can_stop_at_the_pool_and_leads_there(researcher, pool):
    assert not Round.objects.exists()
    assert researcher.get(f"/jobs/{Job.objects.get().pk}/").context["outcome"].url == "/pools/zebra-pool/"
    assert "/pools/zebra-pool/pack/" in researcher.get("/pools/zebra-pool/").text


def test_packing_again_suggests_the_terms_of_the_latest_round_under_a_free_name(researcher):
    made = make_round(name="zebra", replication=2, reasons=True, reward="2.10", published=False)
    form = researcher.get(f"/pools/{made.pool}/pack/").context["form"]
    wanted = {"replication": 2, "reasons": True, "reward": Decimal("2.10"), "ceiling": made.ceiling}
    assert {name: form[name].value() for name in wanted} == wanted
    stem = made.pool.name.removesuffix("-pool")
    assert form["round"].value() == stem
    Round.objects.update(name=stem)
    assert researcher.get(f"/pools/{made.pool}/pack/").context["form"]["round"].value() == f"{stem}-2"


def test_a_packing_that_failed_can_be_changed_and_tried_again(researcher, pool, monkeypatch, commit):
    def fail(*given, **more):
        raise CounterpartError("The pool is empty.")

    monkeypatch.setattr("hits.jobs.pack_round", fail)
    with commit(execute=True):
        sent = SIZES | {"round": "zebra-2", "reward": "1.25"}
        answer = researcher.post("/pools/zebra-pool/pack/", sent)
    form = researcher.get(researcher.get(answer.url).context["outcome"].url).context["form"]
    assert (form["round"].value(), form["reward"].value(), form["seed"].value()) == ("zebra-2", "1.25", "7")


def test_a_pool_is_packed_as_the_form_says(researcher, pool, commit):
    with commit(execute=True):
        answer = researcher.post("/pools/zebra-pool/pack/", SIZES | {"round": "zebra", "reward": "1.25"})
    made = Round.objects.get()
    assert (made.name, made.pool, str(made.reward), made.state) == ("zebra", pool, "1.25", "draft")
    assert researcher.get(answer.url).url == "/rounds/zebra/"


def test_an_estimate_shows_the_hits_and_the_wage_and_packs_nothing(researcher, pool):
    page = researcher.get("/pools/zebra-pool/pack/", SIZES | {"round": "zebra"})
    assert page.context["estimate"].hits == ceil(pool.n_pairs / 16)
    assert (page.context["terms"].hourly, page.context["terms"].fair) == ("$3.90–7.80", Decimal("2.50"))
    assert Job.objects.count() == 1  # the pool's


def test_a_ceiling_below_the_rewards_is_refused_at_its_field(researcher, pool):
    page = researcher.post("/pools/zebra-pool/pack/", SIZES | {"round": "zebra", "ceiling": "0.10"})
    assert (page.status_code, "ceiling" in page.context["form"].errors) == (422, True)
    assert page.context["form"]["round"].value() == "zebra"


def test_a_plan_that_failed_can_be_changed_and_tried_again(researcher, db, commit):
    make_sample(make_collection(images=8), "few")
    make_annotator()
    chosen = {"collection": "zoo", "annotators": ["overlap"], "queries": "few", "ceiling": "0.10"}
    with commit(execute=True):
        answer = researcher.post("/plan/", ORDER | chosen)
    again = researcher.get(researcher.get(answer.url).context["outcome"].url)
    kept = chosen | {"round": "zebra", "design": "eccv-18"}
    assert {name: again.context["form"][name].value() for name in kept} == kept
    assert again.context["step"].name == "pay"
