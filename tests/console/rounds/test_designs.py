"""The page of designs: what may be planned from, who may launch, and a prediction that is kept with its round."""

from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User

from console.rounds.design_bases import Source, prediction_for, source_of, stored_basis
from console.rounds.design_charts import pareto_chart
from core.errors import CounterpartError
from core.models import Job
from counterpart_statistics.auditing.audit_designs import AuditDesign
from counterpart_statistics.auditing.plan_basis import Prior
from dataset.models import Review
from hits.models import Round
from hits.rounds.round_parameters import PackParameters
from mitl.models import Pool
from tests.evaluation.worlds import SMALL, judge_all, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db

PAGE = "/design/"
POOL = {"source": "pool/pool"}


@pytest.fixture(scope="module")
def pool(lasting) -> Pool:
    return known_pool()


@pytest.fixture
def measured(pool, researcher, commit):
    """The pool, whose rankings a job has read."""
    with commit(execute=True):
        researcher.post(f"{PAGE}measure/", POOL)
    return pool


def test_a_researcher_has_a_pool_read_and_sees_designs_from_priors(pool, researcher, commit):
    assert researcher.get(PAGE, POOL).context["kept"] is None
    with commit(execute=True):
        answer = researcher.post(f"{PAGE}measure/", POOL)
    page = researcher.get(answer.url, follow=True)
    assert page.context["basis"].prior.match_rate == 0.2
    assert page.context["chosen"].share == 0.3
    assert "<svg" in page.text


def test_a_member_looks_and_launches_nothing(measured, member):
    assert "launches" not in member.get(PAGE, POOL).context
    assert member.post(f"{PAGE}measure/", POOL).status_code == 403
    assert Job.objects.count() == 1


@pytest.mark.parametrize(
    "wrong", [{"source": "pool/nothing"}, POOL | {"match_rate": "nan"}, POOL | {"share": "0.05", "spread": "10"}]
)
def test_wrong_input_is_refused_and_starts_nothing(pool, researcher, wrong):
    assert researcher.get(PAGE, wrong).status_code == 422
    assert researcher.post(f"{PAGE}measure/", wrong).status_code == 422
    assert not Job.objects.exists()


def test_the_launch_carries_the_chosen_design_to_the_form_that_packs(measured, researcher):
    page = researcher.get(PAGE, POOL | {"share": "0.4", "reward": "2.50"})
    ((label, address),) = page.context["launches"]
    assert (label, urlsplit(address).path) == ("Pack pool", "/pools/pool/pack/")
    sent = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    design = {"judge": "audit", "audit_share": "0.4", "reward": "2.50"}
    assert sent == design | {"step": "pay", "plan": "pool/pool/0.2/0.5"}
    form = researcher.get(address).context["form"]
    assert {name: str(form[name].value()) for name in design} == design


def test_more_queries_than_any_pool_has_lead_to_the_plan_of_a_round(measured, researcher):
    page = researcher.get(PAGE, POOL | {"share": "0.4", "spread": "4"})
    ((_, address),) = page.context["launches"]
    sent = parse_qs(urlsplit(address).query)
    assert urlsplit(address).path == "/plan/"
    assert (sent["images"], sent["annotators"], sent["audit_share"]) == (["56"], ["a", "b", "c"], ["0.1"])
    assert researcher.get(address).context["form"]["judge"].value() == "audit"


def test_a_launched_round_keeps_its_prediction_and_compares_it_with_the_results(measured, researcher, commit):
    parameters = {"round": "wave", "task": "levels", "design": "eccv-18", "judge": "audit", "audit_share": "0.6",
                  "reward": "2.50", "ceiling": "500", "top_up": "0", "sharing": "avoid"}  # fmt: skip
    with commit(execute=True):
        answer = researcher.post("/pools/pool/pack/", parameters | {"plan": "pool/pool/0.2/0.5"})
    assert researcher.get(answer.url).url == "/rounds/wave/consent/"
    made = Round.objects.get()
    predicted = made.summary["predicted"]
    assert (predicted["share"], predicted["spread"]) == (0.6, 1.0)
    assert Decimal(predicted["cost"]) == predicted["hits"] * Decimal("2.50")
    judge_all(published(made))
    assert "#actual" in researcher.get("/rounds/wave/").text
    with commit(execute=True):
        researcher.post(f"{PAGE}measure/", {"source": "round/wave"})
    compared = researcher.get(PAGE, {"source": "round/wave"}).context["compared"]
    rows = {one.name: one.real for one in compared.real}
    assert (rows["HITs"], rows["matches"] > 0) == (made.summary["hits"], True)


def test_a_round_that_is_packed_without_a_known_plan_has_no_prediction(pool):
    parameters = PackParameters(judge="audit")
    assert prediction_for("pool/pool/0.2/0.5", pool, parameters) is None  # nothing was read
    assert prediction_for("pool/pool/a/b", pool, parameters) is None
    assert prediction_for("nonsense", pool, parameters) is None


def test_a_judged_round_is_planned_from_and_is_old_once_it_is_reviewed(pool, researcher, commit):
    judge_all(published(pack("all", pool, design=SMALL)))
    with commit(execute=True):
        researcher.post(f"{PAGE}measure/", {"source": "round/all"})
    page = researcher.get(PAGE, {"source": "round/all"})
    assert (page.context["basis"].prior, page.context["kept"].is_current) == (None, True)
    image, robin = pool.collection.images.first(), User.objects.create(username="robin")
    Review.objects.create(collection=pool.collection, image=image, conclusion="excluded", by=robin)
    assert not stored_basis(source_of("round/all")).is_current


def test_sources_are_named_and_read_alike(pool):
    source = Source(pool, Prior(0.25, 1.0))
    assert source.code == "pool/pool/0.25/1"
    assert source_of(source.code) == source
    for code in ("", "pool", "pool/pool", "pool/pool/x/y", "round/pool", "worker/pool"):
        with pytest.raises(CounterpartError):
            source_of(code)


def test_the_chart_marks_the_front_the_chosen_design_and_the_wished_width():
    def design(cost, width):
        return AuditDesign("audit", 0.1, 1, 1, Decimal(cost), 1.0, 1.0, {("i2t", "R@1"): width}, "these")

    designs = [design(1, 0.5), design(2, 0.4), design(3, 0.45)]
    layers = pareto_chart(designs, designs[:2], designs[2], "R@1", width=0.42)["layer"]
    values = [layer["data"]["values"] for layer in layers]
    assert values[0] == [{"width": 0.42}]
    assert values[2] == [{"cost": 1.0, "width": 0.5}, {"cost": 2.0, "width": 0.4}]
    assert values[3] == [{"cost": 3.0, "width": 0.45}]


def test_a_site_without_pools_has_no_form_of_designs(researcher):
    Pool.objects.all().delete()
    assert "form" not in researcher.get(PAGE).context
