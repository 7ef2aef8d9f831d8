import pytest

from tests.factories import make_annotator, make_collection

PLAN = {"step": "judging", "images": "8", "captions": "8", "top_k": "5"}


@pytest.fixture
def collection(db):
    make_annotator()
    return make_collection(images=8)


def test_the_plan_offers_each_design_with_its_effect_and_cost(researcher, collection):
    offered = {one["judge"]: one for one in researcher.get("/plan/", PLAN).context["offered"]}
    assert offered["audit"]["effect"].endswith("Scores are estimated within ±0.55 or better.")
    assert offered["all"]["estimate"].cost > offered["audit"]["estimate"].cost


def test_a_design_that_the_other_answers_do_not_allow_has_no_cost(researcher, collection):
    offered = researcher.get("/plan/", PLAN | {"reward": "much"}).context["offered"]
    assert offered
    assert not any("estimate" in one for one in offered)
