"""The boards of estimates on the leaderboard and on the page of a run: no finished round and no release is needed."""

import pytest

from console.leaderboard.round_boards import estimates_of_run
from evaluation.models import Run
from evaluation.scores.scoring import evaluate_version
from mitl.models import Pool
from tests.console.api.calls import caller_for
from tests.dataset.releasing import release_version
from tests.evaluation.registering import register_in_order
from tests.evaluation.worlds import AUDIT, half_judged, judge_all, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def pool(lasting) -> Pool:
    return known_pool()


@pytest.fixture(scope="module")
def run(pool, lasting) -> Run:
    """A model that half an audit says something of."""
    half_judged(pool)
    return register_in_order(pool.collection, lasting)


def test_the_leaderboard_of_a_collection_without_a_version_is_that_of_its_newest_audit(member, run):
    page = member.get("/collections/zoo/leaderboard/")
    assert "of the pool of audit" in page.text
    assert [len(one.board.rows) for one in page.context["estimate_boards"]] == [4, 4]
    assert f'/{run.pk}/">outsider</a>' in page.text
    assert "contains 0" in page.text
    assert "randomisation test" not in page.text
    assert "/rounds/audit/estimates/" in page.text


def test_a_version_that_holds_an_audit_leads_to_its_estimates(member, pool):
    audit = judge_all(published(pack("whole", pool, **AUDIT)))
    version = release_version("v1", collection=pool.collection, sample=pool.sample, rounds=[audit])
    evaluate_version(version)
    page = member.get("/collections/zoo/leaderboard/")
    assert page.context["shown"] == version
    assert "14 images and 14 captions" in page.text
    assert page.text.count("?round=whole&amp;metric=mAP%40R") == 2  # among the boards, and in the notice
    assert "of the pool of whole" in member.get("/collections/zoo/leaderboard/?round=whole").text


def test_the_page_of_a_run_has_its_estimates_on_each_audit(member, pool, run):
    published(pack("later", pool, **AUDIT))  # nothing is judged: it says nothing of the run
    page = member.get(f"/runs/{run.pk}/")
    ((round, boards),) = page.context["estimates"]
    assert round.name == "audit"
    assert [[row.model for row in one.board.rows] for one in boards] == [["outsider"], ["outsider"]]
    assert all("outsider" in (step.model, step.following) for one in boards for step in one.differences)
    assert page.text.count("of the pool of audit") == 2
    assert "?round=audit" in page.text


def test_a_program_reads_the_estimates_of_a_run(person, run):
    (answer,) = caller_for(person, "evaluation:read").get(f"/runs/{run.pk}").json()["estimates"]
    ((_, boards),) = estimates_of_run(run)
    cells = {(column.part, column.metric): cell for one in boards for column, cell in one.board.rows[0].cells.items()}
    assert answer["round"] == "audit"
    assert {
        (one["direction"], one["metric"]): (one["value"], one["low"], one["high"]) for one in answer["figures"]
    } == {place: (cell.figure.value, cell.figure.low, cell.figure.high) for place, cell in cells.items()}
    assert {one["kind"] for one in answer["figures"]} == {"estimated"}
